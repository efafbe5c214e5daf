// What a receiver gets for a call, as a schema: the body that is built and the API document both come from it.
import Type, { type Static } from 'typebox'
import { AnyObject, Id, Instant, Nullable, PhoneNumber, type JsonObject } from '../json.js'
import { LeadCreated } from '../lead/events.js'
import { leadStatuses } from '../lead/lead.js'
import { CallCompleted } from './events.js'

const { call_id, status, direction, from, to, started_at, ended_at, duration, transcript, input_variables, evaluation, recording_url } = CallCompleted.properties
const truncated = Type.Optional(Type.Boolean({ description: 'true when fields were left out to keep the body under 256 KiB.' }))

const WebhookLead = Type.Object({
  id: Id({ description: 'The lead, or the secondary contact, that was called.' }),
  phone_number: PhoneNumber(),
  variables: LeadCreated.properties.variables,
  status: Type.Enum([...leadStatuses], { description: 'As it stands after the call.' }),
  campaign: Type.Object({ id: Id({}), name: Type.String() })
}, { title: 'WebhookLead' })

/** Of these, a body over the limit loses one after the other. */
const expendable = {
  lead: Nullable(WebhookLead, { description: 'null when the call had no lead.' }),
  transcript: Type.String({ description: 'One line for each turn: `role: text`.' }),
  transcript_turns: transcript,
  input_variables,
  extracted_variables: AnyObject({ description: 'Exactly the names of the post_call_schema; null for what was not extracted.' })
}

const WebhookCall = Type.Object({
  call_id,
  status,
  direction,
  from,
  to,
  started_at,
  ended_at,
  duration,
  assistant: Type.Object({ id: Id({}), name: Type.String() }),
  ...Type.Partial(Type.Object(expendable)).properties,
  evaluation: Type.Optional(Type.Unsafe<JsonObject | null>({ ...evaluation, description: 'Only with post_call_evaluation.' })),
  recording_url: Type.Optional(Type.Unsafe<string | null>({ ...recording_url, description: 'Only with include_recording_in_webhook.' })),
  truncated
}, { title: 'WebhookCall' })
export type WebhookCall = Static<typeof WebhookCall>

/** What is left of a call whose other fields alone are over the limit. */
const BareCall = Type.Object({ call_id, status, truncated }, { title: 'TruncatedCall' })

export const WebhookPayload = Type.Object({
  type: Type.Enum(['call.completed'], { description: 'What happened.' }),
  timestamp: Instant({ description: 'When the call was recorded: ISO 8601, UTC.' }),
  data: Type.Union([WebhookCall, BareCall])
}, { title: 'WebhookPayload' })
export type WebhookPayload = Static<typeof WebhookPayload>

/** What a receiver gets when its user asks for a test. */
export const WebhookTest = Type.Object({
  type: Type.Enum(['webhook.test'], { description: 'What happened.' }),
  timestamp: Instant({ description: 'When the test was asked for: ISO 8601, UTC.' }),
  data: Type.Object({ assistant: Type.Object({ id: Id({}), name: Type.String() }) })
}, { title: 'WebhookTest' })
export type WebhookTest = Static<typeof WebhookTest>
