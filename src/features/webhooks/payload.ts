// What a receiver gets, as schemas: bodies, the API document and the JSON Schemas for receivers come from them.
import Type, { type Static } from 'typebox'
import { AnyObject, Id, Instant, Nullable, PhoneNumber, type JsonObject } from '../../domain/json.js'
import { LeadStatus, StoredVariables } from '../leads/events.js'
import { CallCompleted } from '../calls/events.js'

const { call_id, status, direction, from, to, started_at, ended_at, duration } = CallCompleted.properties
const { transcript, input_variables, evaluation, recording_url } = CallCompleted.properties

const assistant = Type.Object({
  id: Id({ description: 'As in `GET /user/assistant/{id}`.' }),
  name: Type.String({ description: 'As it was then.' })
}, { title: 'WebhookAssistant', description: 'The assistant that the webhook is set on.' })

const WebhookLead = Type.Object({
  id: Id({ description: 'The lead, or the secondary contact, that was called.' }),
  primary_lead_id: Type.Optional(Id({ description: 'The lead that a secondary contact belongs to. Absent for a lead.' })),
  phone_number: PhoneNumber({ description: 'E.164.' }),
  variables: StoredVariables,
  status: LeadStatus({ description: 'As it stands after the call.' }),
  campaign: Type.Object({
    id: Id({ description: 'The campaign of the lead.' }),
    name: Type.String({ description: 'As it was when the call was recorded.' })
  }, { title: 'WebhookCampaign', description: 'Where the lead belongs.' })
}, { title: 'WebhookLead' })

const call = {
  call_id,
  status,
  direction,
  from,
  to,
  started_at,
  ended_at,
  duration,
  assistant,
  lead: Nullable(WebhookLead, { description: 'null when the call had no lead of the assistant\'s user.' }),
  transcript: Type.String({ description: 'One line for each turn: `role: text`.' }),
  transcript_turns: transcript,
  input_variables,
  extracted_variables: AnyObject({
    description: 'Exactly the names of the post_call_schema; null for what was not extracted.'
  }),
  evaluation: Type.Optional(Type.Unsafe<JsonObject | null>({
    ...evaluation, description: 'Outcome of the post-call evaluation. Only with post_call_evaluation.'
  })),
  recording_url: Type.Optional(Type.Unsafe<string | null>({
    ...recording_url, description: 'Where the recording is. Only with include_recording_in_webhook.'
  }))
}

const WebhookCall = Type.Object(call, { title: 'WebhookCall' })
export type WebhookCall = Static<typeof WebhookCall>

const TruncatedCall = Type.Object({
  ...Type.Partial(WebhookCall).properties,
  call_id,
  status,
  truncated: Type.Literal(true, { description: 'Fields were left out to keep the body within 256 KiB.' })
}, { title: 'TruncatedCall' })
export type TruncatedCall = Static<typeof TruncatedCall>

export const WebhookPayload = Type.Object({
  type: Type.Enum(['call.completed'], { description: 'What happened.' }),
  timestamp: Instant({ description: 'When the call was recorded: ISO 8601, UTC.' }),
  data: Type.Union([WebhookCall, TruncatedCall], {
    description: 'The call; with `truncated`, what is left of one that is too large.'
  })
}, { title: 'WebhookPayload' })
export type WebhookPayload = Static<typeof WebhookPayload>

/** What a test send delivers: a sample of a call. */
export const WebhookTest = Type.Object({
  type: Type.Enum(['webhook.test'], { description: 'What happened.' }),
  timestamp: Instant({ description: 'When the test was asked for: ISO 8601, UTC.' }),
  data: { ...WebhookCall, description: 'A sample of a call, with every field, of the assistant itself.' }
}, { title: 'WebhookTest' })
export type WebhookTest = Static<typeof WebhookTest>
