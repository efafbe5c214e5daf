// The interface's table of assistant fields, row by row: values that are taken, and values that are refused in these words.
import type { AssistantSettings } from '../../src/domain/assistant/settings.js'
import type { requiredFields } from './assistant-bodies.js'
import { privateHosts, zoned } from './private-hosts.js'

export interface FieldCase {
  good: unknown[]
  bad: [value: unknown, ...messages: string[]][]
}

export const smiley = '😀' // two UTF-16 units, one code point
const notA = (message: string, ...values: unknown[]): FieldCase['bad'] => values.map((value) => [value, message])
const notText = notA('must be a string', 5, true, null, [], {})

function text (longest?: number): FieldCase {
  const limits: FieldCase = longest === undefined
    ? { good: ['x'.repeat(20_000)], bad: [] }
    : { good: ['x'.repeat(longest), smiley.repeat(longest)], bad: notA(`must be at most ${longest} characters`, 'x'.repeat(longest + 1), smiley.repeat(longest + 1)) }
  return { good: ['x', ' ', 'a\nb\t"\\', ...limits.good], bad: [['', 'must not be empty'], ...limits.bad, ...notText] }
}

const flag: FieldCase = { good: [true, false], bad: notA('must be true or false', 'true', 1, 0, null, [], {}) }

const choice = (...values: string[]): FieldCase => ({
  good: values, bad: notA(`must be one of: ${values.join(', ')}`, '', `${values[0]} `, values[0]?.toUpperCase(), 0, null, true, [values[0]])
})

const number = (least: number, most: number): FieldCase => ({
  good: [least, most, (least + most) / 2],
  bad: [...notA(`must be between ${least} and ${most}`, least - 0.001, most + 0.001, -1e9, 1e9), ...notA('must be a number', String(most), null, true, [], {})]
})

const whole = (least: number, most: number): FieldCase => ({
  good: [least, most, least + 1],
  bad: [...notA(`must be between ${least} and ${most}`, least - 1, most + 1), ...notA('must be an integer', least + 0.5, String(most), null, true, [], {})]
})

/** `owned` by the user or there for everybody; `missing` for everything else that could be one. */
const id = (type: string, owned: unknown[], missing: string, ...others: number[]): FieldCase => ({
  good: owned,
  bad: [...notA(missing, ...others, 2 ** 31, Number.MAX_SAFE_INTEGER), ...notA('must be at least 1', 0, -1), ...notA(`must be ${type}`, 1.5, '1', true, [], {})]
})

const noZone = 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'
const noUrl = 'must be an absolute https URL'

/** On the example catalogue, for user 1. `post_call_schema` and `end_call_tool` are more than one value each. */
export const assistantFields: Record<string, FieldCase> = {
  assistant_name: text(255),
  voice_id: { ...id('an integer', [1, 12], 'must be an available voice', 13), bad: [...id('an integer', [], 'must be an available voice', 13).bad, [null, 'must be an integer']] },
  language: {
    good: ['English', 'Multilingual'],
    bad: [['', 'must not be empty'], ...notA('must be an available language', 'Klingon', 'english', 'English ', 'x'.repeat(100)), ['x'.repeat(101), 'must be at most 100 characters'], ...notText]
  },
  llm_model: text(100),
  calls_direction: choice('receive', 'make'),
  engine_type: choice('pipeline', 'multimodal'),
  timezone: {
    good: ['Europe/Amsterdam', 'Europe/Kyiv', 'Europe/Kiev', 'Asia/Calcutta', 'US/Eastern', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince', 'Etc/GMT+5'],
    bad: [['', 'must not be empty'], ...notA(noZone, 'UTC', 'GMT', 'EST', 'CET', 'Europe', 'Europe/', '/Amsterdam', 'Europe/Atlantis', 'Europe/Amsterdam ', 'Europe//Amsterdam', '+02:00', 'GMT+2', 'x'.repeat(10_000)), ...notText]
  },
  initial_message: text(),
  system_prompt: text(),
  phone_number_id: id('an integer or null', [null, 1, 2], 'must be one of your phone numbers', 3, 999),
  endpoint_type: choice('vad', 'ai'),
  endpoint_sensitivity: number(0, 5),
  interrupt_sensitivity: number(0, 5),
  ambient_sound_volume: number(0, 1),
  post_call_evaluation: flag,
  send_webhook_only_on_completed: flag,
  include_recording_in_webhook: flag,
  is_webhook_active: { ...flag, good: [false] }, // true needs a URL
  webhook_url: {
    good: [null, 'https://example.com', 'HTTPS://EXAMPLE.com:8443/a?b=c#d', 'https://grüße.example/ü', 'https://8.8.8.8/', 'https://[2606:4700::1]/', `https://example.com/${'x'.repeat(2_028)}`],
    bad: [
      ['', 'must not be empty'],
      [`https://example.com/${'x'.repeat(2_029)}`, 'must be at most 2048 characters'],
      ...notA(noUrl, ...zoned.map((host) => `https://${host}`), 'x', 'example.com', '//example.com', '/hook', 'https://', 'https:/example.com', 'https:example.com', ' https://example.com', 'https://exa mple.com', 'https://example.com/\n', 'https://example.com:99999', 'http://example.com', 'ftp://example.com', 'javascript:alert(1)', 'file:///etc/passwd'),
      ...notA('must not contain a user name or a password', 'https://user@example.com', 'https://user:secret@example.com', 'https://:secret@example.com'),
      ...notA('must use port 80, 443 or one from 1024 up', 'https://example.com:22', 'https://example.com:1023'),
      ...notA('must not point to a private or reserved address', ...privateHosts.map((host) => `https://${host}`), 'https://192.168.0.1:8080/latest', 'https://[::1]:8443'),
      ...notA('must be a string or null', 5, true, [], {})
    ]
  },
  use_min_interrupt_words: flag,
  min_interrupt_words: whole(0, 10),
  variables: { good: [{}, { a: null, b: [1, { c: 'd' }], '': 0, [smiley]: 0.1, customer: { name: 'Ada' } }], bad: notA('must be an object', [], 'x', 5, true, null) },
  llm_temperature: number(0, 1),
  voice_stability: number(0, 1),
  voice_similarity: number(0, 1),
  speech_speed: number(0.7, 1.2),
  allow_interruptions: flag,
  filler_audios: flag,
  re_engagement_interval: whole(7, 600),
  max_call_duration: whole(20, 1200),
  max_silence_duration: whole(1, 120),
  end_call_on_voicemail: flag,
  noise_cancellation: flag,
  record_call: flag,
  who_speaks_first: choice('AI assistant', 'Customer')
}

/** What an omitted optional field is set to; written out here so that a change of one is noticed. */
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
