// One story in examples: an assistant calls a lead, and a webhook reports the call. They fit examples/catalog.json.
import type { Static } from 'typebox'
import type { CreateAssistantBody, UpdateAssistantBody } from '../../features/assistants/bodies.js'
import type { AssistantSummary } from '../../features/assistants/summary.js'
import type { EntryAnswer } from '../../features/blacklist/entry.js'
import type { CampaignAnswer } from '../../features/campaigns/summary.js'
import type { CompleteCallBody } from '../../features/calls/events.js'
import type { WebhookPayload, WebhookTest } from '../../features/webhooks/payload.js'
import { customer, customerNumber, frontDesk, otherNumber, ownNumber } from '../../domain/examples.js'
import type { CreateLeadBody } from '../../features/leads/validate.js'
import type { UpdateLeadBody } from '../../features/leads/validate-changes.js'
import type { LeadAnswer } from '../../features/leads/summary.js'
import type { PhoneNumberAnswer } from '../../features/phone-numbers/body.js'

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

const { assistant_id: assistantId, lead_id: _leadId, ...report } = completedCall
const { transcript, input_variables, extracted_variables, recording_url, evaluation, ...call } = report
export const webhookPayload: WebhookPayload = {
  type: 'call.completed',
  timestamp: '2026-01-31T12:01:13.042Z',
  data: {
    call_id: callId,
    ...call,
    assistant: { id: assistantId, name: 'Renewals' },
    lead: { id: 1, phone_number: lead.phone_number, variables, status: 'completed', campaign: lead.campaign },
    transcript: transcript.map(({ role, text }) => `${role}: ${text}`).join('\n'),
    transcript_turns: transcript,
    input_variables,
    extracted_variables,
    evaluation,
    recording_url
  }
}

export const webhookTest: WebhookTest = {
  type: 'webhook.test',
  timestamp: '2026-01-31T11:59:00.000Z',
  data: { assistant: { id: assistantId, name: 'Renewals' } }
}
