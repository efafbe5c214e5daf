// What a receiver gets for a call: its id, and its body, which is built once, stored, and sent byte for byte.
import type { CallCompleted } from '../../src/features/calls/events.js'
import type { TruncatedCall, WebhookCall, WebhookPayload } from '../../src/features/webhooks/payload.js'
import type { Json, JsonObject } from '../../src/domain/json.js'
import { uuidV5 } from '../../src/log/stored.js'
import type { KnownAssistant, KnownLead } from './known.js'

export const callType = 'call.completed'
const idNamespace = '3f1d5f0e-6b4c-5a53-9a8e-0f8f3b7c2d61'

/** The `webhook-id` of a call: always the same for one call. */
export const deliveryId = (callId: string) => uuidV5(idNamespace, `${callId}:${callType}`)

export interface PayloadSources {
  call: CallCompleted
  /** When the call was recorded. */
  at: Date
  assistant: Pick<KnownAssistant, 'assistant_id' | 'settings'>
  /** A lead or a secondary contact, as it is after the call. */
  lead: Pick<KnownLead, 'id' | 'primary_id' | 'phone_number' | 'variables' | 'status' | 'campaign_id'> | undefined
  campaignName: string | undefined
}

export const longestBodyBytes = 256 * 1024

/** Fields that are left out of a body that is too large, one after the other, until it fits. */
const expendable = [
  'transcript_turns', 'transcript', 'input_variables', 'evaluation', 'extracted_variables', 'lead'
] as const satisfies (keyof TruncatedCall)[]

/** The JSON text, at most 256 KiB in UTF-8; `truncated: true` if fields had to be left out. */
export function buildBody (sources: PayloadSources): string {
  const data = callData(sources)
  const whole = envelope(sources, data)
  if (fits(whole)) return whole
  const rest: TruncatedCall = { ...data, truncated: true }
  for (const field of expendable) {
    delete rest[field]
    const body = envelope(sources, rest)
    if (fits(body)) return body
  }
  return envelope(sources, { call_id: sources.call.call_id, status: sources.call.status, truncated: true })
}

function envelope ({ at }: PayloadSources, data: WebhookPayload['data']): string {
  const payload: WebhookPayload = { type: 'call.completed', timestamp: at.toISOString(), data }
  return JSON.stringify(payload)
}

const fits = (body: string) => Buffer.byteLength(body) <= longestBodyBytes

function callData ({ call, assistant: { assistant_id, settings }, lead, campaignName }: PayloadSources): WebhookCall {
  const { call_id, status, direction, from, to, started_at, ended_at, duration } = call
  const { transcript, input_variables, evaluation, recording_url } = call
  return {
    call_id,
    status,
    direction,
    from,
    to,
    started_at,
    ended_at,
    duration,
    assistant: { id: assistant_id, name: settings.assistant_name },
    lead: lead ? leadData(lead, campaignName) : null,
    transcript: transcript.map(({ role, text }) => `${role}: ${text}`).join('\n'),
    transcript_turns: transcript,
    input_variables,
    extracted_variables: extracted(call, settings),
    ...(settings.post_call_evaluation && { evaluation }),
    ...(settings.include_recording_in_webhook && { recording_url })
  }
}

function leadData (lead: NonNullable<PayloadSources['lead']>, campaignName: string | undefined): NonNullable<WebhookCall['lead']> {
  const { id, primary_id, phone_number, variables, status, campaign_id } = lead
  const primary = primary_id !== null && { primary_lead_id: primary_id }
  return { id, ...primary, phone_number, variables, status, campaign: { id: campaign_id, name: campaignName ?? '' } }
}

/** Exactly the names of the schema; what the engine did not extract is null. */
function extracted ({ extracted_variables }: CallCompleted, { post_call_schema }: KnownAssistant['settings']): JsonObject {
  return Object.fromEntries(post_call_schema.map(({ name }): [string, Json] =>
    [name, Object.hasOwn(extracted_variables, name) ? extracted_variables[name] ?? null : null]))
}
