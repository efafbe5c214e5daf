// What callers see of a call.
import Type, { type Static } from 'typebox'
import { Id, Nullable, type JsonObject } from '../../domain/json.js'
import type { CallErased } from './erased.js'
import { CallId, CallStatus, CompleteCallBody, TranscriptTurn, type CallCompleted } from './events.js'

const { direction, duration, recording_url } = CompleteCallBody.properties
const ifErased = 'Null when the person was erased.'
const Said = (description: string) => Type.Unsafe<CallCompleted['transcript'] | null>({
  type: ['array', 'null'], items: TranscriptTurn, description: `${description} ${ifErased}`
})
const Variables = (description: string) => Type.Unsafe<JsonObject | null>({
  type: ['object', 'null'], additionalProperties: true, description: `${description} ${ifErased}`
})
const PhoneOf = (description: string) => Nullable(Type.String(), { description: `${description} ${ifErased}` })
const Utc = (description: string) => Type.String({ description, examples: ['2026-01-31T12:00:00.000Z'] })

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
  started_at: Utc('ISO 8601, UTC.'),
  ended_at: Utc('ISO 8601, UTC.'),
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

/** `lead` is the lead, when it belongs to the user who owns the assistant. */
export function summarizeCall (report: CallCompleted, lead: CalledLead | null): CallSummary {
  const { call_id, assistant_id, status, direction, from, to, started_at, ended_at, duration } = report
  const times = { started_at: utc(started_at), ended_at: utc(ended_at) }
  return { call_id, assistant_id, lead_id: lead?.id ?? null, lead, status, direction, from, to, ...times, duration }
}

/** The same of a call whose person was erased. */
export function summarizeErased (
  { started_at, ended_at, ...call }: Omit<CallErased, 'erased_at'>, lead: CalledLead | null
): CallSummary {
  const { call_id, assistant_id, status, direction, duration } = call
  const times = { started_at: utc(started_at), ended_at: utc(ended_at) }
  const named = { call_id, assistant_id, lead_id: lead?.id ?? null, lead, status, direction }
  return { ...named, from: null, to: null, ...times, duration, erased: true }
}

/** What a row has of a report: nothing when the person was erased. */
export type KeptReport = CallCompleted | null

export function describeCall (summary: CallSummary, report: KeptReport): CallReport {
  if (!report) {
    const nothing = { recording_url: null, transcript: null, input_variables: null, extracted_variables: null }
    return { ...summary, ...nothing, evaluation: null }
  }
  const { recording_url, transcript, input_variables, extracted_variables, evaluation } = report
  return { ...summary, recording_url, transcript, input_variables, extracted_variables, evaluation }
}

/** What the engine wrote into the log is not refused for its times; one that cannot be read stays as it is. */
const utc = (time: string) => Number.isNaN(Date.parse(time)) ? time : new Date(time).toISOString()
