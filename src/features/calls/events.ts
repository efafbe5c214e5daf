// What the call engine reports, on the stream `call-<call_id>`, and what an erasure leaves of it.
import Type, { type Static } from 'typebox'
import { AnyObject, Id, Instant, inWords, type JsonObject, Nullable } from '../../domain/json.js'
import { Sealed } from '../../domain/sealed.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'
import { LeadStatus } from '../leads/events.js'

export const callStatuses = ['completed', 'failed', 'no-answer', 'busy', 'voicemail', 'canceled'] as const

export type CallStatus = typeof callStatuses[number]

export const CallStatus = Type.Enum([...callStatuses], { title: 'CallStatus', description: 'How the call ended.' })

export const callIdWords = '1 to 128 letters, digits, dots, underscores, tildes or hyphens'
const callIdRule = {
  pattern: '^[A-Za-z0-9._~-]{1,128}$',
  description: `Identifies the call; chosen by the call engine. ${callIdWords}.`,
  ...inWords(`must be ${callIdWords}`)
}
export const CallId = Type.String(callIdRule)
export const isCallId = (text: string) => new RegExp(callIdRule.pattern).test(text)

export const TranscriptTurn = Type.Object({
  role: Type.Enum(['assistant', 'customer', 'tool'], { title: 'Speaker', description: 'Who spoke.' }),
  text: Type.String({ description: 'What was said.' }),
  at: Type.Number({ minimum: 0, description: 'Seconds from the start of the call.' })
}, { title: 'TranscriptTurn' })

const report = {
  assistant_id: Id({ description: 'The assistant that handled the call.' }),
  lead_id: Nullable(Id({}), { description: 'The lead that was called, or one of its secondary contacts.' }),
  lead_status: Type.Optional(LeadStatus({
    description: 'Moves the lead; without one a completed call makes it completed. A lead that is blacklisted stays so, ' +
      'and a call that ended before the latest reported one moves nothing.'
  })),
  status: CallStatus,
  direction: Type.Enum(['inbound', 'outbound'], {
    title: 'CallDirection', description: 'Who called: the customer (inbound) or the assistant (outbound).'
  }),
  from: Type.String({ minLength: 1, description: 'Calling number.' }),
  to: Type.String({ minLength: 1, description: 'Called number.' }),
  started_at: Instant({ description: 'As the call engine reported it: ISO 8601 with an offset.' }),
  ended_at: Instant({ description: 'As the call engine reported it: ISO 8601 with an offset.' }),
  duration: Type.Number({ minimum: 0, description: 'Seconds.' }),
  recording_url: Nullable(Type.String(), { description: 'Where the recording is.' }),
  transcript: Type.Array(TranscriptTurn, { description: 'What was said, in order.' }),
  input_variables: AnyObject({ description: 'Variables the call started with.' }),
  extracted_variables: AnyObject({ description: 'Values per post_call_schema.' }),
  evaluation: Type.Unsafe<JsonObject | null>({
    type: ['object', 'null'], description: 'Outcome of the post-call evaluation.'
  })
}

/** The body of POST /engine/calls/{call_id}/completed: the event's data without `call_id`. */
export const CompleteCallBody = Type.Object(report, { title: 'CompletedCall' })
export type CompleteCallBody = Static<typeof CompleteCallBody>

export const CallCompleted = Type.Object({ call_id: CallId, ...report })
export type CallCompleted = Static<typeof CallCompleted>

const { assistant_id, lead_id, lead_status, status, direction, started_at, ended_at, duration } = report

/** Keeps what counts the call, and what the status of its lead follows from. */
const CallErased = Type.Object({
  call_id: Type.String({ pattern: callIdRule.pattern, description: 'As the call engine chose it.' }),
  assistant_id,
  lead_id,
  lead_status: Type.Optional(LeadStatus({ description: 'As it was reported.' })),
  status,
  direction,
  started_at: Instant(),
  ended_at: Instant(),
  duration,
  lead_left: Type.Optional(Type.Object({
    status: LeadStatus({}), newest_report_at: Nullable(Instant()), updated_at: Instant()
  }, {
    title: 'LeadLeft',
    description: 'The lead as calls and its user had left it when the call was erased, where it stays: it was reported before.'
  })),
  erased_at: Instant()
})
export type CallErased = Static<typeof CallErased>

export const callEvents = {
  /** From HTTP: sealed under the key of the person in the call. Engines append version 1 and seal nothing. */
  CallCompleted: firstVersion(CallCompleted).next(CallCompleted, (data) => data, Type.Object({
    call_id: CallId,
    assistant_id,
    lead_id,
    lead_status,
    status,
    direction,
    started_at,
    ended_at,
    duration,
    sealed: Sealed
  })),
  CallErased: firstVersion(CallErased)
}
export type CallEvent = EventOf<typeof callEvents>
export const callEventTypes = typesOf(callEvents)

export const callStream = (callId: string) => `call-${callId}`

/** No call ended later, in milliseconds: the clock of its engine may be 15 minutes ahead. */
export const latestEnd = (reported: Date) => reported.getTime() + 15 * 60_000

/** The call of a stream; undefined when it is not a call's. */
export function callIdOf (stream: string): string | undefined {
  const callId = stream.slice(callStream('').length)
  return stream === callStream(callId) && isCallId(callId) ? callId : undefined
}
