// Requests that the API accepts on the example catalogue. A test changes only the fields that it is about.
import { customerNumber, frontDesk, ownNumber } from '../../../src/domain/examples.js'
import type { AssistantSettings } from '../../../src/features/assistants/events.js'

/** The nine required fields and nothing else. */
export const newAssistant = (given: object = {}): object => ({ ...frontDesk, ...given })

export const newLead = (given: object = {}): object => ({ phone_number: customerNumber, campaign_id: 1, ...given })

export const callReport = (assistantId: number, given: object = {}): object => ({
  assistant_id: assistantId,
  lead_id: null,
  status: 'completed',
  direction: 'inbound',
  from: customerNumber,
  to: ownNumber,
  started_at: '2026-01-31T09:00:00Z',
  ended_at: '2026-01-31T09:00:42Z',
  duration: 42,
  recording_url: 'https://recordings.example.com/1.mp3',
  transcript: [
    { role: 'assistant', text: frontDesk.initial_message, at: 0.4 }, { role: 'customer', text: 'Grüezi 👋', at: 2 }
  ],
  input_variables: {},
  extracted_variables: { status: true, summary: 'A greeting' },
  evaluation: null,
  ...given
})

export const requiredFields = {
  ...frontDesk,
  calls_direction: 'make' as const,
  initial_message: 'Hello',
  system_prompt: 'Be kind.'
}

/** What an omitted optional field is set to. */
export const documentedDefaults: Omit<AssistantSettings, keyof typeof requiredFields> = {
  endpoint_type: 'vad',
  endpoint_sensitivity: 0.5,
  interrupt_sensitivity: 0.5,
  ambient_sound_volume: 0.5,
  post_call_evaluation: true,
  is_webhook_active: false,
  webhook_url: null,
  phone_number_id: null,
  send_webhook_only_on_completed: true,
  include_recording_in_webhook: true,
  use_min_interrupt_words: false,
  min_interrupt_words: 0,
  variables: {},
  post_call_schema: [
    { name: 'status', type: 'bool', description: 'Whether the goal of the call was reached' },
    { name: 'summary', type: 'string', description: 'Summary of the call' }
  ],
  end_call_tool: null,
  llm_temperature: 0.1,
  voice_stability: 0.7,
  voice_similarity: 0.5,
  speech_speed: 1,
  allow_interruptions: true,
  filler_audios: false,
  re_engagement_interval: 30,
  max_call_duration: 600,
  max_silence_duration: 40,
  end_call_on_voicemail: true,
  noise_cancellation: true,
  record_call: false,
  who_speaks_first: 'AI assistant'
}
