// What reads answer in the story of examples.ts.
import type { HistoryEntry } from '../../features/assistants/history.js'
import { defaultSettings } from '../../features/assistants/settings.js'
import type { Delivery, DeliveryDetails, DeliverySummary } from '../../features/webhooks/delivery.js'
import type { Notice } from '../../features/webhooks/notice.js'
import type { CallReport, CallSummary } from '../../features/calls/summary.js'
import { assistantSummary, callId, changedAssistant, completedCall, newAssistant } from './examples.js'

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

const { assistant_id, lead_id, status, direction, from, to, started_at, ended_at, duration } = completedCall
const times = { started_at, ended_at, duration }
export const callSummary: CallSummary =
  { call_id: callId, assistant_id, lead_id, lead: { id: 1 }, status, direction, from, to, ...times }

const { recording_url, transcript, input_variables, extracted_variables, evaluation } = completedCall
const report: CallReport =
  { ...callSummary, recording_url, transcript, input_variables, extracted_variables, evaluation }

/** What the webhook-id of the call in this story is. */
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
  created_at: '2026-01-31T12:01:13.060Z'
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

export const delivery: Delivery = { ...deliverySummary, attempts: [attempt] }
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
