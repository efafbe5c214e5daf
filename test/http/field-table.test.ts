// Every field of the interface's table at its limits, through the validators that the app uses.
import t from 'tap'
import type { TSchema } from 'typebox'
import { CreateAssistantBody, UpdateAssistantBody } from '../../src/domain/assistant/settings.js'
import { requiredFields } from '../support/assistant-bodies.js'
import { refusals } from '../support/refusals.js'

interface Case { good: unknown[], bad: [value: unknown, ...messages: string[]][] }

const smiley = '😀' // two UTF-16 units, one code point
const notA = (message: string, ...values: unknown[]): Case['bad'] => values.map((value) => [value, message])

function text (longest?: number): Case {
  const limits = longest === undefined
    ? { good: ['x'.repeat(100_000)], bad: [] }
    : { good: ['x'.repeat(longest), smiley.repeat(longest)], bad: notA(`must be at most ${longest} characters`, 'x'.repeat(longest + 1), smiley.repeat(longest + 1)) }
  return { good: ['x', ' ', ...limits.good], bad: [['', 'must not be empty'], ...limits.bad, ...notA('must be a string', 5, true, null, [], {})] }
}

const flag: Case = { good: [true, false], bad: notA('must be true or false', 'true', 1, 0, null, [], {}) }

const choice = (...values: string[]): Case => ({
  good: values, bad: notA(`must be one of: ${values.join(', ')}`, '', `${values[0]} `, values[0]?.toUpperCase(), 0, null, true, [values[0]])
})

const number = (least: number, most: number): Case => ({
  good: [least, most, (least + most) / 2],
  bad: [...notA(`must be between ${least} and ${most}`, least - 0.001, most + 0.001, -1e9, 1e9), ...notA('must be a number', String(most), null, true, [], {})]
})

const whole = (least: number, most: number): Case => ({
  good: [least, most, least + 1],
  bad: [...notA(`must be between ${least} and ${most}`, least - 1, most + 1), ...notA('must be an integer', least + 0.5, String(most), null, true, [], {})]
})

const id = (type: string, good: unknown[] = []): Case => ({
  good: [1, 2 ** 31, Number.MAX_SAFE_INTEGER, ...good],
  bad: [...notA('must be at least 1', 0, -1), ...notA(`must be ${type}`, 1.5, '1', true, [], {})]
})

const anyObject: Case = { good: [{}, { a: null, b: [1, { c: 'd' }] }], bad: notA('must be an object', [], 'x', 5, true, null) }

/** Section 2.1 of the interface, row by row; `post_call_schema` and `end_call_tool` have tests of their own. */
const table: Record<string, Case> = {
  assistant_name: text(255),
  voice_id: { ...id('an integer'), bad: [...id('an integer').bad, [null, 'must be an integer']] },
  language: text(100),
  llm_model: text(100),
  calls_direction: choice('receive', 'make'),
  engine_type: choice('pipeline', 'multimodal'),
  timezone: text(),
  initial_message: text(),
  system_prompt: text(),
  phone_number_id: id('an integer or null', [null]),
  endpoint_type: choice('vad', 'ai'),
  endpoint_sensitivity: number(0, 5),
  interrupt_sensitivity: number(0, 5),
  ambient_sound_volume: number(0, 1),
  post_call_evaluation: flag,
  send_webhook_only_on_completed: flag,
  include_recording_in_webhook: flag,
  is_webhook_active: flag,
  webhook_url: {
    good: [null, 'https://example.com', 'x'.repeat(2_048)],
    bad: [['', 'must not be empty'], ['x'.repeat(2_049), 'must be at most 2048 characters'], ...notA('must be a string or null', 5, true, [], {})]
  },
  use_min_interrupt_words: flag,
  min_interrupt_words: whole(0, 10),
  variables: anyObject,
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
  who_speaks_first: choice('AI assistant', 'Customer'),
  'end_call_tool.description': {
    good: ['', 'x'.repeat(500), smiley.repeat(500)],
    bad: [...notA('must be at most 500 characters', 'x'.repeat(501), smiley.repeat(501)), ...notA('must be a string', null, 5, {})]
  }
}

const routes: [name: string, schema: TSchema, rest: object][] = [['create', CreateAssistantBody, requiredFields], ['update', UpdateAssistantBody, {}]]

t.test('the table covers every field of both bodies', async (t) => {
  const covered = [...Object.keys(table), 'post_call_schema', 'end_call_tool'].sort()
  t.strictSame(Object.keys(CreateAssistantBody.properties).sort(), covered)
  t.strictSame(Object.keys(UpdateAssistantBody.properties).sort(), covered)
})

for (const [route, schema, rest] of routes) {
  t.test(`${route}: each field takes its limits and refuses what is beyond, in words`, async (t) => {
    const refused = refusals(schema)
    for (const [field, { good, bad }] of Object.entries(table)) {
      for (const value of good) t.strictSame(refused({ ...rest, [field]: value }), {}, `${field} takes ${brief(value)}`)
      for (const [value, ...messages] of bad) t.strictSame(refused({ ...rest, [field]: value }), { [field]: messages }, `${field} refuses ${brief(value)}`)
    }
  })
}

t.test('create: the nine required fields are required, all of them told at once; nothing else is', async (t) => {
  const required = Object.keys(requiredFields)
  const refused = refusals(CreateAssistantBody)
  t.strictSame(refused({}), Object.fromEntries(required.map((field) => [field, ['is required']])))
  for (const field of required) {
    const { [field]: _left, ...rest } = requiredFields as Record<string, unknown>
    t.strictSame(refused(rest), { [field]: ['is required'] })
  }
  t.strictSame(refused(requiredFields), {})
  t.strictSame(refusals(UpdateAssistantBody)({}), {})
})

t.test('an end_call_tool is null or an object with a description of at most 500 characters', async (t) => {
  const refused = refusals(UpdateAssistantBody)
  for (const end_call_tool of [null, {}, { description: '' }, { description: smiley.repeat(500) }, { other: 1 }]) t.strictSame(refused({ end_call_tool }), {})
  t.strictSame(refused({ end_call_tool: { description: 'x'.repeat(501) } }), { 'end_call_tool.description': ['must be at most 500 characters'] })
  t.strictSame(refused({ end_call_tool: { description: null } }), { 'end_call_tool.description': ['must be a string'] })
  for (const end_call_tool of ['x', 5, true, []]) t.strictSame(refused({ end_call_tool }), { end_call_tool: ['must be an object or null'] })
})

t.test('a post_call_schema is an array of items, each with name, type and description', async (t) => {
  const refused = refusals(UpdateAssistantBody)
  const item = { name: 'a_1', type: 'string', description: 'x' }
  for (const post_call_schema of [[], [item], ['string', 'number', 'bool'].map((type) => ({ ...item, type }))]) t.strictSame(refused({ post_call_schema }), {})
  for (const post_call_schema of [null, {}, 'x']) t.strictSame(refused({ post_call_schema }), { post_call_schema: ['must be an array'] })
  const bad: [object, Record<string, string>][] = [
    [{}, { name: 'is required', type: 'is required', description: 'is required' }],
    [{ ...item, name: 'a-b' }, { name: 'may only contain letters, digits and underscores' }],
    [{ ...item, name: 'a\n' }, { name: 'may only contain letters, digits and underscores' }],
    [{ ...item, name: 'é' }, { name: 'may only contain letters, digits and underscores' }],
    [{ ...item, type: 'boolean' }, { type: 'must be one of: string, number, bool' }],
    [{ ...item, description: '' }, { description: 'must not be empty' }],
    [{ ...item, name: 5, description: null }, { name: 'must be a string', description: 'must be a string' }]
  ]
  for (const [wrong, problems] of bad) {
    const errors = Object.fromEntries(Object.entries(problems).map(([field, problem]) => [`post_call_schema.1.${field}`, [problem]]))
    t.strictSame(refused({ post_call_schema: [item, wrong] }), errors)
  }
  t.match(refused({ post_call_schema: [{ ...item, name: '' }] }), { 'post_call_schema.0.name': ['must not be empty'] })
})

t.test('every failing field is told at once', async (t) => {
  t.strictSame(refusals(UpdateAssistantBody)({ voice_id: 'x', speech_speed: 2, record_call: null }), {
    voice_id: ['must be an integer'], speech_speed: ['must be between 0.7 and 1.2'], record_call: ['must be true or false']
  })
})

t.test('a body that is no object is told as such', async (t) => {
  for (const body of [[], 'x', 5, null, true]) t.strictSame(refusals(CreateAssistantBody)(body), { body: ['must be a JSON object'] })
})

const brief = (value: unknown) => JSON.stringify(value).slice(0, 30)
