// The interface's table of assistant fields: the values that each takes, and those it refuses, with the messages.
import { choice, flag, id, label, notA, notText, number, smiley, text, whole, type FieldCase } from './field-cases.js'
import { privateHosts, zoned } from '../receivers/private-hosts.js'

const noZone = 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'
const noZones = [
  'UTC', 'GMT', 'EST', 'CET', 'Europe', 'Europe/', '/Amsterdam', 'Europe/Atlantis', 'Europe/Amsterdam ',
  'Europe//Amsterdam', '+02:00', 'GMT+2', 'SystemV/EST5EDT', 'Europe/Kıev', 'x'.repeat(10_000)
]
const noUrl = 'must be an absolute https URL'
const noUrls = [
  'x', 'example.com', '//example.com', '/hook', 'https://', 'https:/example.com', 'https:example.com',
  ' https://example.com', 'https://exa mple.com', 'https://example.com/\n', 'https://example.com:99999',
  'http://example.com', 'ftp://example.com', 'javascript:alert(1)', 'file:///etc/passwd'
]
const withCredentials = ['https://user@example.com', 'https://user:secret@example.com', 'https://:secret@example.com']
const isPrivate = 'must not point to a private or reserved address'
const withPrivatePorts = ['https://192.168.0.1:8080/latest', 'https://[::1]:8443']
const voice = id('an integer', [1, 12], 'must be an available voice', 13)

/** On the example catalogue, for user 1. `post_call_schema` and `end_call_tool` are more than one value each. */
export const assistantFields: Record<string, FieldCase> = {
  assistant_name: label(255),
  voice_id: { ...voice, bad: [...voice.bad, [null, 'must be an integer']] },
  language: {
    good: ['English', 'Multilingual'],
    bad: [
      ['', 'must not be empty'],
      ...notA('must be an available language', 'Klingon', 'english', 'English ', 'x'.repeat(100)),
      ['x'.repeat(101), 'must be at most 100 characters'], ...notText
    ]
  },
  llm_model: label(100),
  calls_direction: choice('receive', 'make'),
  engine_type: choice('pipeline', 'multimodal'),
  timezone: {
    good: [
      'Europe/Amsterdam', 'Europe/Kyiv', 'Europe/Kiev', 'Asia/Calcutta', 'US/Eastern', 'America/Argentina/Buenos_Aires',
      'America/Port-au-Prince', 'Etc/GMT+5'
    ],
    bad: [['', 'must not be empty'], ...notA(noZone, ...noZones), ...notText]
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
    good: [
      null, 'https://example.com', 'HTTPS://EXAMPLE.com:8443/a?b=c#d', 'https://grüße.example/ü', 'https://8.8.8.8/',
      'https://[2606:4700::1]/', `https://example.com/${'x'.repeat(2_028)}`
    ],
    bad: [
      ['', 'must not be empty'],
      [`https://example.com/${'x'.repeat(2_029)}`, 'must be at most 2048 characters'],
      ...notA(noUrl, ...zoned.map((host) => `https://${host}`), ...noUrls),
      ...notA('must not contain a user name or a password', ...withCredentials),
      ...notA('must use port 80, 443 or one from 1024 up', 'https://example.com:22', 'https://example.com:1023'),
      ...notA(isPrivate, ...privateHosts.map((host) => `https://${host}`), ...withPrivatePorts),
      ...notA('must be a string or null', 5, true, [], {})
    ]
  },
  use_min_interrupt_words: flag,
  min_interrupt_words: whole(0, 10),
  variables: {
    good: [{}, { a: null, b: [1, { c: 'd' }], '': 0, [smiley.repeat(255)]: 0.1, customer: { name: 'Ada' } }],
    bad: [
      ...notA('must be an object', [], 'x', 5, true, null),
      ...notA('must not have a name of more than 255 characters', { ['n'.repeat(256)]: 1, ['m'.repeat(256)]: 1 })
    ]
  },
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
