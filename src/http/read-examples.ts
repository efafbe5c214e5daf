// What reads answer in the story of examples.ts.
import type { HistoryEntry } from '../domain/assistant/history.js'
import { defaultSettings } from '../domain/assistant/settings.js'
import type { Delivery } from '../domain/call/delivery.js'
import type { CallReport, CallSummary } from '../domain/call/summary.js'
import { assistantSummary, callId, changedAssistant, completedCall, newAssistant } from './examples.js'

/** The only page of a list with these items. */
export const page = (perPage: number, ...data: object[]) => ({ data, meta: { page: 1, per_page: perPage, total: data.length, last_page: 1 } })

export const assistant = {
  ...assistantSummary,
  settings: { ...defaultSettings(), ...newAssistant, ...changedAssistant },
  revision: 1,
  created_at: '2026-01-31T11:55:00.000Z',
  updated_at: '2026-01-31T11:57:00.000Z',
  webhook: { state: 'on', reason: null, since: null }
}

export const historyEntry: HistoryEntry = {
  revision: 1,
  event: 'AssistantUpdated',
  at: '2026-01-31T11:57:00.000Z',
  changes: [{ field: 'speech_speed', from: 1, to: 1.1 }, { field: 'max_call_duration', from: 300, to: 240 }]
}

const { assistant_id, lead_id, status, direction, from, to, started_at, ended_at, duration } = completedCall
export const callSummary: CallSummary = { call_id: callId, assistant_id, lead_id, status, direction, from, to, started_at, ended_at, duration }

const { recording_url, transcript, input_variables, extracted_variables, evaluation } = completedCall
const report: CallReport = { ...callSummary, recording_url, transcript, input_variables, extracted_variables, evaluation }

const delivery: Delivery = {
  id: '5f0c6c0e-6c0b-5a0e-9a7d-3a8f1f0f6d11',
  call_id: callId,
  assistant_id,
  type: 'call.completed',
  status: 'delivered',
  reason: null,
  attempt_count: 1,
  next_attempt_at: null,
  created_at: '2026-01-31T12:01:13.060Z',
  attempts: [{
    n: 1,
    trigger: 'schedule',
    started_at: '2026-01-31T12:01:13.101Z',
    finished_at: '2026-01-31T12:01:13.260Z',
    outcome: 'delivered',
    status_code: 204,
    duration_ms: 159,
    error: null,
    response_excerpt: ''
  }]
}

export const call = { ...report, deliveries: [delivery] }
