// What one event means for the dispatcher: it makes something known, or a call gets its row.
import { dispatchCall, dispatchErased, lostLead } from './dispatch-call.js'
import type { NewDelivery } from './new-deliveries.js'
import type { ReadEvent } from './read-event.js'
import { applyEvent } from './state/apply-event.js'
import type { DispatchState } from './state/state.js'

export interface Dispatched {
  added: NewDelivery[]
  /** Why the event is parked for operators. */
  parkedFor?: string | undefined
}

/** @param skipUntil up to this position a lost database knew of the calls, and may have sent them */
export function dispatchEvent (
  state: DispatchState, { stored, event, callId, problem }: ReadEvent, skipUntil = 0n
): Dispatched {
  if (callId === undefined) {
    if (event) applyEvent(state, stored, event)
    return { added: [], parkedFor: problem }
  }
  if (event?.type === 'CallErased') return { added: dispatchErased(state, stored, event.data) }
  const call = event?.type === 'CallCompleted' ? event.data : undefined
  const added = dispatchCall(state, stored, callId, call, skipUntil)
  const lost = added.length > 0 && call ? lostLead(state, call) : undefined
  return { added, parkedFor: lost && `${lost}: the webhook says that there is none` }
}
