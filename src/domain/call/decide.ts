// The rules for completing a call: once, and the same report again is no news.
import Value from 'typebox/value'
import type { Decider } from '../decider.js'
import { Rejection, collect, refuseInvalid, type FieldErrors } from '../rejection.js'
import type { NewEvent } from '../stored-event.js'
import { CompleteCallBody, type CallCompleted, type CallEvent } from './events.js'

/** Nothing yet, or what the engine reported first. */
export type CallState = CallCompleted | undefined

export interface CompleteCall {
  callId: string
  body: Partial<CompleteCallBody>
  /** What the schema refused already; rules skip these fields, and both are told together. */
  refused: FieldErrors
  facts: { assistantExists: boolean, leadBelongs: boolean }
}

export const callDecider: Decider<CallState, CallEvent, CompleteCall> = {
  initialState: undefined,
  evolve: (state, event) => state ?? event.data, // a later event of the same call is a duplicate
  decide: completeCall
}

function completeCall ({ callId, body, refused, facts }: CompleteCall, state: CallState): NewEvent[] {
  refuseInvalid(collect(refused, [
    body.assistant_id === undefined || refused.assistant_id || facts.assistantExists ? undefined : { field: 'assistant_id', message: 'must be an existing assistant' },
    refused.lead_id || refused.assistant_id || body.lead_id == null || facts.leadBelongs || !facts.assistantExists
      ? undefined
      : { field: 'lead_id', message: 'must be a lead of the user who owns the assistant' }
  ]))
  const known = Object.entries(body).filter(([name]) => Object.hasOwn(CompleteCallBody.properties, name))
  const transcript = body.transcript?.map(({ role, text, at }) => ({ role, text, at }))
  const data = { call_id: callId, ...Object.fromEntries(known), transcript }
  if (state === undefined) return [{ type: 'CallCompleted', data }]
  if (Value.Equal(state, data)) return []
  throw new Rejection('call-differs', `Call ${callId} was already reported with another body`)
}
