// What is left in the log of a call whose person was erased, on the stream of the call: what is not personal.
import Type, { type Static } from 'typebox'
import { Id, Instant, Nullable } from '../../domain/json.js'
import { LeadStatus } from '../leads/events.js'

/** The call is still accounted for, and the status of its lead still follows from it. */
export const CallErased = Type.Object({
  call_id: Type.String({ pattern: '^[A-Za-z0-9._~-]{1,128}$', description: 'As the call engine chose it.' }),
  assistant_id: Id({ description: 'The assistant that handled the call.' }),
  lead_id: Nullable(Id({}), { description: 'The lead that was called, or one of its secondary contacts.' }),
  lead_status: Type.Optional(LeadStatus({ description: 'As it was reported.' })),
  status: Type.Enum(['completed', 'failed', 'no-answer', 'busy', 'voicemail', 'canceled'], { title: 'CallStatus' }),
  direction: Type.Enum(['inbound', 'outbound'], { title: 'CallDirection' }),
  started_at: Instant(),
  ended_at: Instant(),
  duration: Type.Number({ minimum: 0, description: 'Seconds.' }),
  lead_left: Type.Optional(Type.Object({
    status: LeadStatus({}), newest_report_at: Nullable(Instant()), updated_at: Instant()
  }, {
    title: 'LeadLeft',
    description: 'The lead as calls and its user had left it when the call was erased, where it stays: it was reported before.'
  })),
  erased_at: Instant()
})
export type CallErased = Static<typeof CallErased>

export type CallErasedEvent = { type: 'CallErased', data: CallErased }
