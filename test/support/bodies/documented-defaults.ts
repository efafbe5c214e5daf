// The defaults of the interface's table of assistant fields, written out so that a test notices a change.
import type { AssistantSettings } from '../../../src/features/assistants/events.js'
import type { requiredFields } from './assistant-bodies.js'

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
