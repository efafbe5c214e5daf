// One story in examples: an assistant calls a lead, and a webhook reports the call. They fit examples/catalog.json.
import type { Static } from 'typebox'
import type { ApiKeyItem, CreateApiKeyBody, NewKeyAnswer } from '../../features/api-keys/model.js'
import type { CreateAssistantBody, UpdateAssistantBody } from '../../features/assistants/validate.js'
import type { AssistantSummary, HistoryEntry } from '../../features/assistants/model.js'
import { defaultSettings, type PostCallField } from '../../features/assistants/events.js'
import type { EntryAnswer } from '../../features/blacklist/model.js'
import type { CompleteCallBody } from '../../features/calls/events.js'
import type { CallReport, CallSummary } from '../../features/calls/model.js'
import type { CampaignAnswer } from '../../features/campaigns/model.js'
import { customer, customerNumber, frontDesk, otherNumber, ownNumber } from '../../domain/examples.js'
import type { LeadAnswer } from '../../features/leads/model.js'
import type { CreateLeadBody, UpdateLeadBody } from '../../features/leads/decide.js'
import type { BegunPersonRequest, PersonRequestAnswer } from '../../features/persons/model.js'
import type { PhoneNumberAnswer } from '../../features/phone-numbers/model.js'
import type { Delivery, DeliveryDetails, DeliverySummary, Notice } from '../../features/webhooks/model.js'
import type { WebhookOptions, WebhookOptionsBody } from '../../features/webhooks/options.js'
import type { WebhookCall, WebhookPayload, WebhookTest } from '../../features/webhooks/payload.js'

export const newAssistant: Static<typeof CreateAssistantBody> = {
  ...frontDesk,
  assistant_name: 'Renewals',
  calls_direction: 'make',
  initial_message: 'Hello {customer_name}, this is about your subscription.',
  system_prompt: 'You are a friendly agent who offers customers to renew their subscription.',
  max_call_duration: 300,
  is_webhook_active: true,
  webhook_url: 'https://example.com/hooks/calls',
  variables: { company: 'Example Ltd' },
  post_call_schema: [{ name: 'renewed', type: 'bool', description: 'Whether the customer renewed' }]
}

export const changedAssistant: Static<typeof UpdateAssistantBody> = {
  speech_speed: 1.1,
  max_call_duration: 240,
  end_call_tool: { description: 'When the customer says goodbye' }
}

export const assistantSummary: AssistantSummary =
  { id: 1, name: 'Renewals', status: 'active', type: 'outbound', mode: 'pipeline' }

const variables = { ...customer, plan: 'yearly' }
export const newLead: Static<typeof CreateLeadBody> = {
  phone_number: customerNumber,
  campaign_id: 1,
  variables,
  secondary_contacts: [{ phone_number: otherNumber, variables: { customer_name: 'Bob Example' } }]
}

export const changedLead: Static<typeof UpdateLeadBody> = {
  variables,
  secondary_contacts: [{ id: 2, phone_number: otherNumber, variables: { customer_name: 'Bob Example' } }],
  status: 'rescheduled'
}

export const campaign: CampaignAnswer = {
  id: 1, name: 'Spring renewals', created_at: '2026-01-31T11:50:00.000Z', updated_at: '2026-01-31T11:50:00.000Z'
}

export const phoneNumber: PhoneNumberAnswer = { id: 1, phone_number: ownNumber }

export const blacklistEntry: EntryAnswer =
  { id: 1, phone_number: customerNumber, reason: 'Asked not to be called', created_at: '2026-01-31T12:05:00.000Z' }

const fresh = { status: 'created' as const, created_at: '2026-01-31 11:58:00', updated_at: '2026-01-31 11:58:00' }
export const lead: LeadAnswer = {
  id: 1,
  campaign_id: 1,
  phone_number: customerNumber,
  variables,
  ...fresh,
  campaign: { id: campaign.id, name: campaign.name },
  secondary_contacts: [
    { id: 2, phone_number: otherNumber, variables: { customer_name: 'Bob Example', email: '' }, ...fresh }
  ]
}

export const callId = 'c-2026-01-31-0001'
export const completedCall: CompleteCallBody = {
  assistant_id: 1,
  lead_id: 1,
  status: 'completed',
  direction: 'outbound',
  from: ownNumber,
  to: customerNumber,
  started_at: '2026-01-31T12:00:00.000Z',
  ended_at: '2026-01-31T12:01:12.500Z',
  duration: 72.5,
  recording_url: 'https://recordings.example.com/c-2026-01-31-0001.mp3',
  transcript: [
    { role: 'assistant', text: 'Hello Ada, this is about your subscription.', at: 0.4 },
    { role: 'customer', text: 'Yes, please renew it.', at: 4.2 }
  ],
  input_variables: { customer_name: customer.customer_name, plan: variables.plan },
  extracted_variables: { renewed: true },
  evaluation: { score: 0.92, summary: 'The customer renewed.' }
}

const {
  assistant_id, lead_id, transcript, input_variables, extracted_variables, recording_url, evaluation, ...outcome
} = completedCall
const webhookCall: WebhookCall = {
  call_id: callId,
  ...outcome,
  assistant: { id: assistant_id, name: 'Renewals' },
  lead: { id: 1, phone_number: lead.phone_number, variables, status: 'completed', campaign: lead.campaign },
  transcript: transcript.map(({ role, text }) => `${role}: ${text}`).join('\n'),
  transcript_turns: transcript,
  input_variables,
  extracted_variables,
  evaluation,
  recording_url
}
export const webhookPayload: WebhookPayload =
  { type: 'call.completed', timestamp: '2026-01-31T12:01:13.042Z', data: webhookCall }

const samples = { string: 'a text', number: 1.5, bool: true }

/** A test of this assistant's webhook: every field, and a call that never happened. */
export const testOf = (
  assistant: WebhookCall['assistant'], schema: readonly Pick<PostCallField, 'name' | 'type'>[], timestamp: string
): WebhookTest => {
  const extracted_variables = Object.fromEntries(schema.map(({ name, type }) => [name, samples[type]]))
  return { type: 'webhook.test', timestamp, data: { ...webhookCall, call_id: 'sample', assistant, extracted_variables } }
}
export const webhookTest =
  testOf(webhookCall.assistant, [{ name: 'renewed', type: 'bool' }], '2026-01-31T11:59:00.000Z')

/** The only page of a list with these items. */
export const page = (perPage: number, ...data: object[]) =>
  ({ data, meta: { page: 1, per_page: perPage, total: data.length, last_page: 1, next: null } })

export const assistant = {
  ...assistantSummary,
  settings: { ...defaultSettings(), ...newAssistant, ...changedAssistant },
  revision: 1,
  created_at: '2026-01-31T11:55:00.000Z',
  updated_at: '2026-01-31T11:57:00.000Z',
  webhook: { state: 'on', reason: null, since: null, until: null }
}

export const historyEntry: HistoryEntry = {
  revision: 1,
  event: 'AssistantUpdated',
  at: '2026-01-31T11:57:00.000Z',
  changes: [{ field: 'speech_speed', from: 1, to: 1.1 }, { field: 'max_call_duration', from: 300, to: 240 }]
}

export const callSummary: CallSummary = { call_id: callId, assistant_id, lead_id, lead: { id: 1 }, ...outcome }

const report: CallReport =
  { ...callSummary, recording_url, transcript, input_variables, extracted_variables, evaluation }

/** The webhook-id of the call in this story. */
export const deliveryId = '8199a6da-f234-5f31-87e3-6f71755ff78d'

export const deliverySummary: DeliverySummary = {
  id: deliveryId,
  call_id: callId,
  assistant_id,
  type: 'call.completed',
  status: 'delivered',
  reason: null,
  attempt_count: 1,
  next_attempt_at: null,
  created_at: '2026-01-31T12:01:13.060Z',
  url: 'https://hooks.example.com/calls',
  last_error: null
}

const attempt: Delivery['attempts'][number] = {
  n: 1,
  trigger: 'schedule',
  started_at: '2026-01-31T12:01:13.101Z',
  finished_at: '2026-01-31T12:01:13.260Z',
  outcome: 'delivered',
  status_code: 204,
  duration_ms: 159,
  error: null,
  response_excerpt: ''
}
const unanswered = { outcome: null, status_code: null, duration_ms: null, response_excerpt: null }
const waiting = { ...attempt, started_at: null, finished_at: null, ...unanswered }

const delivery: Delivery = { ...deliverySummary, attempts: [attempt] }
export const deliveryDetails: DeliveryDetails = {
  ...delivery,
  request: {
    method: 'POST',
    url: 'https://hooks.example.com/calls',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Ringledger/0.1.0',
      'webhook-id': deliveryId,
      'webhook-timestamp': '1769860873',
      'webhook-attempt': '1'
    },
    header_names: ['authorization', 'X-Team'],
    body: '{"type":"call.completed","timestamp":"2026-01-31T12:01:13.042Z","data":{"call_id":"c-2026-01-31-0001"}}'
  }
}
export const redelivered: Delivery = { ...deliverySummary, attempts: [attempt, { ...waiting, trigger: 'manual' }] }
export const testDelivery: Delivery = {
  ...deliverySummary,
  id: '0b0f6b7a-3c1e-4d52-9a49-7f0c2b8e4d19',
  call_id: null,
  type: 'webhook.test',
  status: 'scheduled',
  attempt_count: 0,
  attempts: [{ ...waiting, trigger: 'test' }]
}

export const rotatedSecret = {
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk=',
  previous: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk=', expires_at: '2026-02-01T12:05:00.000Z' }
}

export const newWebhookOptions: WebhookOptionsBody = {
  headers: { authorization: 'Bearer 3c469e9d6c5875d3', 'X-Team': 'renewals-north' }, max_per_second: 20
}
export const webhookOptions: WebhookOptions =
  { headers: { authorization: '…75d3', 'X-Team': '…orth' }, max_per_second: 20 }

export const notice: Notice = {
  id: 7,
  type: 'delivery_exhausted',
  assistant_id,
  delivery_id: deliveryId,
  reason: 'attempts_used_up',
  at: '2026-02-03T15:20:44.120Z'
}

export const ownSecret = { ...rotatedSecret, own: true }
export const usersSecret = { ...rotatedSecret, own: false }

export const call = { ...report, deliveries: [delivery] }

// An import of leads.

export const importId = '3f1d7c52-6c0e-4d0b-9d0a-5f6c1f6a2b10'

export const leadImport = {
  id: importId,
  status: 'completed' as const,
  total: 3,
  processed: 3,
  created: 1,
  duplicates: 1,
  invalid: 1,
  reason: null,
  created_at: '2026-01-31T11:58:00.000Z',
  finished_at: '2026-01-31T11:58:02.000Z'
}

export const importedRow = {
  row: 3,
  outcome: 'invalid' as const,
  lead_id: null,
  errors: { phone_number: ['must be a phone number in E.164 format, such as +15551230001'] }
}

// API keys. Nobody has this key.

export const newApiKey: Static<typeof CreateApiKeyBody> =
  { name: 'Nightly import', scopes: ['read', 'write'], expires_at: '2099-12-31T23:00:00.000Z' }

const prefix = 'rl_q3VXhZ0s'
const shownKey = {
  prefix, scopes: newApiKey.scopes, expires_at: '2099-12-31T23:00:00.000Z', created_at: '2026-01-31T11:50:00.000Z'
}
export const createdApiKey: NewKeyAnswer =
  { id: 1, name: newApiKey.name, key: `${prefix}EXAMPLE-EXAMPLE-EXAMPLE-EXAMPLE-35`, ...shownKey }
export const apiKeyItem: ApiKeyItem =
  { id: 1, name: newApiKey.name, ...shownKey, last_used_at: '2026-01-31T12:03:00.000Z' }

// Requests for a person's data.

export const personRequestId = 'c56a4180-65aa-42ec-a945-5fd21dec0538'

export const begunExport: BegunPersonRequest = { id: personRequestId, type: 'export', status: 'processing' }

export const begunErasure: BegunPersonRequest = { ...begunExport, type: 'erasure' }

export const personRequest: PersonRequestAnswer = {
  ...begunExport, status: 'completed', created_at: '2026-01-31T12:00:00.000Z', finished_at: '2026-01-31T12:00:02.000Z'
}

export const person = { phone_number: customerNumber }

export const exportedPerson = {
  ...person,
  exported_at: '2026-01-31T12:00:02.000Z',
  leads: [{ id: 1, phone_number: person.phone_number }],
  contacts: [],
  calls: [{ call_id: callId }],
  deliveries: [],
  blacklist_entry: null
}
