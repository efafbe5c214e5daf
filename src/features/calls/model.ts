// A call is reported once; the same report again changes nothing. Who was called and what was said can be erased, once.
// Also the checks of a report, and what callers see of a call.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import type { Decider } from '../../domain/events.js'
import { At, Id, type JsonObject, Nullable } from '../../domain/json.js'
import { Rejection, problem, soundBody, soundFields, type Submitted } from '../../domain/rejection.js'
import {
  CallCompleted, type CallErased, type CallEvent, callEventTypes, CallId, CallStatus, CompleteCallBody, latestEnd,
  TranscriptTurn
} from './events.js'

/** Facts from outside the stream. An absent fact is unknown, and refuses nothing. */
export interface CallFacts {
  assistantExists?: boolean
  /** The user who has the assistant: the report is about a person of theirs. */
  owner?: string
  /** The lead belongs to the user who owns the assistant. */
  leadBelongs?: boolean
}

/** @throws Rejection `invalid` with every problem */
export function validateReport (
  callId: string, submitted: Submitted<CompleteCallBody>, facts: CallFacts, now: Date
): { report: CallCompleted } {
  const { started_at: began, ended_at: ended } = soundFields(submitted)
  const isReversed = began !== undefined && ended !== undefined && Date.parse(ended) < Date.parse(began)
  const body = soundBody(submitted, [
    isReversed && problem('ended_at', 'must not be before started_at'),
    ended !== undefined && Date.parse(ended) > latestEnd(now) &&
      problem('ended_at', 'must not be more than 15 minutes in the future'),
    facts.assistantExists === false && problem('assistant_id', 'must be an existing assistant'),
    facts.leadBelongs === false && problem('lead_id', 'must be a lead of the user who owns the assistant')
  ])
  return { report: withKnown({ ...body, call_id: callId }) }
}

/** Without the fields that nobody knows: an engine may append them. */
function withKnown (report: CallCompleted): CallCompleted {
  const known = Object.entries(report).filter(([name]) => Object.hasOwn(CallCompleted.properties, name))
  const transcript = report.transcript.map(({ role, text, at }) => ({ role, text, at }))
  return { ...Object.fromEntries(known), transcript } as CallCompleted
}

/** Undefined, what the engine reported first, or what an erasure left of it. */
type CallState = CallCompleted | CallErased | undefined

/** A later report of the same call is a duplicate, even after an erasure. */
const evolve = (state: CallState, { type, data }: CallEvent): CallState =>
  type === 'CallErased' ? data : state ?? data

const isErased = (state: CallCompleted | CallErased): state is CallErased => 'erased_at' in state

interface CompleteCall { report: CallCompleted }
/** `report` is the one that counts: the stream itself may be unreadable by now. `left` is its lead. */
export interface EraseCall { report: Omit<CallErased, 'lead_left' | 'erased_at'>, left?: CallErased['lead_left'], now: string }

/** A larger event, with type and metadata, would not fit into the 1 MiB that a server takes. */
const largestEvent = 1024 * 1024 - 4 * 1024

const calls = {
  initialState: undefined,
  eventTypes: callEventTypes,
  isWrittenOnce: true as const,
  skipsUnreadable: true as const,
  largestEvent,
  evolve
}

export const callDecider: Decider<CallState, CallEvent, CompleteCall> = { ...calls, decide: completeCall }
export const erasingDecider: Decider<CallState, CallEvent, EraseCall> = { ...calls, decide: eraseCall }

function completeCall ({ report }: CompleteCall, state: CallState): CallEvent[] {
  if (state === undefined) return [{ type: 'CallCompleted', data: report }]
  if (isErased(state) ? isOfErased(report, state) : Value.Equal(withKnown(state), report)) return []
  throw new Rejection('call-differs', `Call ${report.call_id} was already reported with another body`)
}

/** Compares only what the erasure left: nobody knows any longer what was said, and who was called. */
function isOfErased (report: CallCompleted, { erased_at: _at, lead_left: _left, ...known }: CallErased): boolean {
  return Object.entries(known).every(([field, value]) => Value.Equal(Reflect.get(report, field), value))
}

function eraseCall ({ report, left: lead_left, now }: EraseCall, state: CallState): CallEvent[] {
  if (state && isErased(state)) return []
  const { call_id, assistant_id, lead_id, lead_status, status, direction, started_at, ended_at, duration } = report
  const told = lead_status === undefined ? {} : { lead_status }
  const left = { call_id, assistant_id, lead_id, ...told, status, direction, started_at, ended_at, duration }
  return [{ type: 'CallErased', data: { ...left, ...lead_left && { lead_left }, erased_at: now } }]
}

const { direction, duration, recording_url } = CompleteCallBody.properties
const ifErased = 'Null when the person was erased.'
const Said = (description: string) => Type.Unsafe<CallCompleted['transcript'] | null>({
  type: ['array', 'null'], items: TranscriptTurn, description: `${description} ${ifErased}`
})
const Variables = (description: string) => Type.Unsafe<JsonObject | null>({
  type: ['object', 'null'], additionalProperties: true, description: `${description} ${ifErased}`
})
const PhoneOf = (description: string) => Nullable(Type.String(), { description: `${description} ${ifErased}` })

const CalledLead = Type.Object({
  id: Id({ description: 'As in lead_id.' }),
  primary_lead_id: Type.Optional(Id({ description: 'The lead that the secondary contact belongs to; absent for a lead.' }))
}, { title: 'CalledLead' })
export type CalledLead = Static<typeof CalledLead>

const summary = {
  call_id: CallId,
  assistant_id: Id({ description: 'The assistant that handled the call.' }),
  lead_id: Nullable(Id({}), { description: 'The lead that was called, or one of its secondary contacts.' }),
  lead: Nullable(CalledLead, { description: 'The same, with its primary lead where it is a secondary contact.' }),
  status: CallStatus,
  direction,
  from: PhoneOf('Calling number.'),
  to: PhoneOf('Called number.'),
  started_at: At(),
  ended_at: At(),
  duration,
  erased: Type.Optional(Type.Literal(true, { description: 'The person was erased: nothing of them is kept.' }))
}

export const CallSummary = Type.Object(summary, { title: 'CallSummary' })
export type CallSummary = Static<typeof CallSummary>

/** A call with everything that the engine reported of it. */
export const CallReport = Type.Object({
  ...summary,
  recording_url,
  transcript: Said('What was said, in order.'),
  input_variables: Variables('Variables the call started with.'),
  extracted_variables: Variables('Values per post_call_schema.'),
  evaluation: Type.Unsafe<CallCompleted['evaluation']>({
    type: ['object', 'null'], additionalProperties: true, description: 'Outcome of the post-call evaluation.'
  })
})
export type CallReport = Static<typeof CallReport>

/** `lead` is null unless it belongs to the user who owns the assistant. */
export function summarizeCall (
  report: Omit<CallErased, 'erased_at'> & Pick<CallSummary, 'from' | 'to'>, lead: CalledLead | null
): CallSummary {
  const { call_id, assistant_id, status, direction, from, to, started_at, ended_at, duration } = report
  const times = { started_at: utc(started_at), ended_at: utc(ended_at) }
  return { call_id, assistant_id, lead_id: lead?.id ?? null, lead, status, direction, from, to, ...times, duration }
}

/** Like `summarizeCall`, for a call whose person was erased. */
export const summarizeErased = (call: Omit<CallErased, 'erased_at'>, lead: CalledLead | null): CallSummary =>
  ({ ...summarizeCall({ ...call, from: null, to: null }, lead), erased: true })

/** The report in a row; null when the person was erased. */
export type KeptReport = CallCompleted | null

export function describeCall (summary: CallSummary, report: KeptReport): CallReport {
  if (!report) {
    const nothing = { recording_url: null, transcript: null, input_variables: null, extracted_variables: null }
    return { ...summary, ...nothing, evaluation: null }
  }
  const { recording_url, transcript, input_variables, extracted_variables, evaluation } = report
  return { ...summary, recording_url, transcript, input_variables, extracted_variables, evaluation }
}

/** A time that cannot be parsed stays as it is. */
const utc = (time: string) => Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString()
