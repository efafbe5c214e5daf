// What an assistant can be set to, in the order of the form. A test compares the limits with those of the API document.
import type { Field } from '../blocks/fields.js'

const share = { kind: 'number' as const, min: 0, max: 1, step: 0.05 }
const flag = { kind: 'switch' as const }

/** Their choices come from the catalogue. */
export const chosen = ['voice_id', 'language', 'llm_model', 'phone_number_id'] as const

export const sections: { title: string, fields: Field[] }[] = [
  {
    title: 'Who it is',
    fields: [
      { name: 'assistant_name', label: 'Name', isRequired: true, most: 255 },
      {
        name: 'calls_direction',
        label: 'Calls',
        isRequired: true,
        options: [{ value: 'receive', label: 'Takes calls' }, { value: 'make', label: 'Makes calls' }]
      },
      { name: 'phone_number_id', label: 'Phone number', kind: 'number', isNullable: true, hint: 'One of your numbers.' },
      { name: 'timezone', label: 'Time zone', isRequired: true, suggestions: Intl.supportedValuesOf('timeZone'), hint: 'Such as Europe/Amsterdam.' },
      { name: 'language', label: 'Language', isRequired: true, most: 100 }
    ]
  },
  {
    title: 'What it says',
    fields: [
      { name: 'system_prompt', label: 'Instructions', kind: 'long', isRequired: true, hint: 'How it behaves, and what it is to achieve.' },
      { name: 'initial_message', label: 'First words', kind: 'long', isRequired: true, hint: 'What it says when the call begins.' },
      { name: 'who_speaks_first', label: 'Who speaks first', options: ['AI assistant', 'Customer'], usual: 'AI assistant' },
      { name: 'variables', label: 'Variables', kind: 'variables', hint: 'Values that the instructions can name.' }
    ]
  },
  {
    title: 'How it thinks and sounds',
    fields: [
      { name: 'engine_type', label: 'Engine', isRequired: true, options: [{ value: 'pipeline', label: 'Pipeline' }, { value: 'multimodal', label: 'Multimodal' }] },
      { name: 'llm_model', label: 'Language model', isRequired: true, most: 100 },
      { name: 'llm_temperature', label: 'Temperature', ...share, usual: 0.1, hint: 'Higher is less predictable.' },
      { name: 'voice_id', label: 'Voice', kind: 'number', isRequired: true },
      { name: 'voice_stability', label: 'Stability of the voice', ...share, usual: 0.7 },
      { name: 'voice_similarity', label: 'Similarity to the original voice', ...share, usual: 0.5 },
      { name: 'speech_speed', label: 'Speed of speech', kind: 'number', min: 0.7, max: 1.2, step: 0.05, usual: 1 },
      { name: 'ambient_sound_volume', label: 'Volume of background sound', ...share, usual: 0.5 },
      { name: 'filler_audios', label: 'Fill pauses with sounds', ...flag, usual: false },
      { name: 'noise_cancellation', label: 'Cancel noise', ...flag, usual: true }
    ]
  },
  {
    title: 'Turns and interruptions',
    fields: [
      { name: 'endpoint_type', label: 'How it hears the end of a turn', options: [{ value: 'vad', label: 'By silence (vad)' }, { value: 'ai', label: 'By what is said (ai)' }], usual: 'vad' },
      { name: 'endpoint_sensitivity', label: 'How soon silence ends a turn', kind: 'number', min: 0, max: 5, step: 0.1, usual: 0.5 },
      { name: 'allow_interruptions', label: 'The caller may interrupt', ...flag, usual: true },
      { name: 'interrupt_sensitivity', label: 'How easily the caller interrupts', kind: 'number', min: 0, max: 5, step: 0.1, usual: 0.5 },
      { name: 'use_min_interrupt_words', label: 'Interrupt only after some words', ...flag, usual: false },
      { name: 'min_interrupt_words', label: 'How many words', kind: 'number', min: 0, max: 10, usual: 0 }
    ]
  },
  {
    title: 'Length and end of a call',
    fields: [
      { name: 're_engagement_interval', label: 'Speak again after silence of', kind: 'number', min: 7, max: 600, usual: 30, hint: 'Seconds.' },
      { name: 'max_silence_duration', label: 'Longest silence', kind: 'number', min: 1, max: 120, usual: 40, hint: 'Seconds.' },
      { name: 'max_call_duration', label: 'Longest call', kind: 'number', min: 20, max: 1200, usual: 600, hint: 'Seconds.' },
      { name: 'end_call_on_voicemail', label: 'Hang up on voicemail', ...flag, usual: true },
      { name: 'end_call_tool.description', label: 'When it may end the call itself', kind: 'long', most: 500, hint: 'Empty: it never does.' }
    ]
  },
  {
    title: 'After the call',
    fields: [
      { name: 'record_call', label: 'Record the call', ...flag, usual: false },
      { name: 'post_call_evaluation', label: 'Evaluate the call', ...flag, usual: true }
    ]
  },
  {
    title: 'Webhook',
    fields: [
      { name: 'is_webhook_active', label: 'Send a webhook after each call', ...flag, usual: false },
      { name: 'webhook_url', label: 'Webhook URL', kind: 'url', isNullable: true, hint: 'Begins with https.' },
      { name: 'send_webhook_only_on_completed', label: 'Only for completed calls', ...flag, usual: true },
      { name: 'include_recording_in_webhook', label: 'With the URL of the recording', ...flag, usual: true }
    ]
  }
]
