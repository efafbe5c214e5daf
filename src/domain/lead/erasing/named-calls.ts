// Whom events of erasures tell of, and the calls that had named them.
import { erasedIds, type LeadErasedEvent } from './erased.js'
import { restatedId, type LeadRestatedEvent } from './restated.js'

export type Told = LeadErasedEvent | LeadRestatedEvent

export const idsTold = (event: Told): number[] => event.type === 'LeadErased' ? erasedIds(event) : [restatedId(event)]

/** A call, and the lead or contact that it names. */
export interface NamedCall { call_id: string, lead_id: number }

export function callsOf (event: Told): NamedCall[] {
  if (event.type === 'LeadErased') return event.data.calls ?? []
  return event.data.calls.map((call_id) => ({ call_id, lead_id: restatedId(event) }))
}
