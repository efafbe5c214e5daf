// Every field of an assistant at its limits, on create and on update.
import t, { type Test } from 'tap'
import {
  type AssistantBody, type AssistantFacts, CreateAssistantBody, UpdateAssistantBody, validateChanges,
  validateNewAssistant
} from '../../../src/features/assistants/validate.js'
import { defaultSettings } from '../../../src/features/assistants/events.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { submitting } from '../../support/commands/given.js'
import { brief } from '../../support/scenes/scenes.js'

interface FieldCase {
  good: unknown[]
  bad: [value: unknown, ...messages: string[]][]
}

const smiley = '😀' // two UTF-16 units, one code point
const notA = (message: string, ...values: unknown[]): FieldCase['bad'] => values.map((value) => [value, message])
const notText = notA('must be a string', 5, null, [])

function text (longest?: number): FieldCase {
  const beyond = longest === undefined ? [] : ['x', smiley].map((letter) => letter.repeat(longest + 1))
  return {
    good: [' x\nb\t"\\', smiley.repeat(longest ?? 20_000)],
    bad: [['', 'must not be empty'], ...notA(`must be at most ${longest} characters`, ...beyond), ...notText]
  }
}

/** Zero-width space and joiner, mark of direction, Hangul filler, blank of Braille, tag, control. */
const invisible = ['\u200b', '\u200d\u200c', '\u202e ', '\u3164', '\u2800', '\u{e0041}', '\u0001']

function label (longest: number): FieldCase {
  const { good, bad } = text(longest)
  return { good: [...good, '👩‍👧', 'نام‌ها', '́'], bad: [...bad, ...notA('must not be blank', ' ', '\t \u00a0', ...invisible)] }
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, n]))

const flag: FieldCase = { good: [true, false], bad: notA('must be true or false', 'true', 1, null) }

const choice = (...values: string[]): FieldCase =>
  ({ good: values, bad: notA(`must be one of: ${values.join(', ')}`, '', values[0]?.toUpperCase(), null, [values[0]]) })

/** A number, or a whole one where `step` is 1. */
const number = (least: number, most: number, step = 0.001): FieldCase => ({
  good: [least, most, least + step],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - step, most + step),
    ...notA(step === 1 ? 'must be an integer' : 'must be a number', String(most), null, ...step === 1 ? [least + 0.5] : [])
  ]
})

/** `owned` by the user or there for everybody; `missing` for everything else that could be one. */
const id = (type: string, owned: unknown[], missing: string, other: number): FieldCase => ({
  good: owned,
  bad: [
    ...notA(missing, other, Number.MAX_SAFE_INTEGER), [0, 'must be at least 1'],
    [2 ** 53, 'must be between 1 and 9007199254740991'], ...notA(`must be ${type}`, 1.5, '1')
  ]
})

const literal = 'end_call_tool.description'

const item = { name: 'a_1', type: 'string', description: 'x' }

const items = (count: number) => Array.from({ length: count }, (_, index) => ({ ...item, name: `n${index}` }))

const unfit = 'may only contain letters, digits and underscores'
const noType = 'must be one of: string, number, bool'

/** With the errors of each. */
const refusedSchemas: [schema: unknown, errors: Record<string, string[]>][] = [
  [[{}], {
    'post_call_schema.0.name': ['is required'],
    'post_call_schema.0.type': ['is required'],
    'post_call_schema.0.description': ['is required']
  }],
  [['a-b', 'a\n', 'é', '', '__proto__', 'A'.repeat(256)].map((name) => ({ ...item, name })), {
    ...Object.fromEntries([0, 1, 2].map((at) => [`post_call_schema.${at}.name`, [unfit]])),
    'post_call_schema.3.name': ['must not be empty', unfit],
    'post_call_schema.4.name': ['must not be __proto__'],
    'post_call_schema.5.name': ['must be at most 255 characters']
  }],
  [[{ ...item, type: 'boolean', description: '' }, { ...item, name: 5, type: null, description: null }], {
    'post_call_schema.0.type': [noType],
    'post_call_schema.0.description': ['must not be empty'],
    'post_call_schema.1.name': ['must be a string'],
    'post_call_schema.1.type': [noType],
    'post_call_schema.1.description': ['must be a string']
  }],
  [[item, item, null, { ...item, name: 'A_1', type: 'x' }], {
    'post_call_schema.1.name': ['must be unique in the schema'],
    'post_call_schema.2': ['must be an object'],
    'post_call_schema.3.type': [noType]
  }]
]

// The interface's table of assistant fields: the values that each takes, and those it refuses, with the messages.
const noZone = 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'
const noZones = ['UTC', 'Europe/', 'Europe/Atlantis', 'Europe/Amsterdam ', 'posix/Europe/Amsterdam', 'GMT+2', 'Europe/\u212Ayiv']
const voice = id('an integer', [1, 12], 'must be an available voice', 13)

/** Cases of numbers, choices and flags; the golden API document has their limits. */
function caseOf ({ type, enum: values, minimum = NaN, maximum = NaN }: Partial<Limits>): FieldCase[] {
  if (values) return [choice(...values)]
  if (type === 'boolean') return [flag]
  if (type === 'integer') return [number(minimum, maximum, 1)]
  return type === 'number' ? [number(minimum, maximum)] : []
}

interface Limits { type: string, enum: string[], minimum: number, maximum: number }

/** On the example catalogue, for user 1. */
const assistantFields: Record<string, FieldCase> = {
  ...Object.fromEntries(Object.entries(CreateAssistantBody.properties)
    .flatMap(([name, schema]) => caseOf(schema as Partial<Limits>).map((each) => [name, each]))),
  assistant_name: label(255),
  voice_id: { ...voice, bad: [...voice.bad, [null, 'must be an integer']] },
  language: {
    good: ['English', 'Multilingual'],
    bad: [
      ['', 'must not be empty'],
      ...notA('must be an available language', 'english', 'English '), ['x'.repeat(101), 'must be at most 100 characters'], ...notText
    ]
  },
  llm_model: label(100),
  timezone: {
    good: ['Europe/Kiev', 'US/Eastern', 'America/Argentina/Buenos_Aires', 'America/Port-au-Prince', 'Etc/GMT+5'],
    bad: [['', 'must not be empty'], ...notA(noZone, ...noZones), ...notText]
  },
  initial_message: text(),
  system_prompt: text(),
  phone_number_id: id('an integer or null', [null, 1, 2], 'must be one of your phone numbers', 3),
  is_webhook_active: { ...flag, good: [false] }, // true needs a URL
  webhook_url: {
    good: [
      null, 'https://example.com:8443/a?b=c', 'https://[2606:4700::1]/', `https://example.com/${'x'.repeat(2_028)}`
    ],
    bad: [
      ['', 'must not be empty'],
      [`https://example.com/${'x'.repeat(2_029)}`, 'must be at most 2048 characters'],
      [`https://example.com/${'ü'.repeat(500)}`, 'must be at most 2048 characters'], // as it is called
      ['http://example.com', 'must be an absolute https URL'], // tests of the guard have the others
      [5, 'must be a string or null']
    ]
  },
  variables: {
    good: [{}, many(1_000), { a: null, b: [1, { c: 'd' }], '': 0, [smiley.repeat(255)]: 0.1, customer: { name: 'Ada' } }],
    bad: [
      ...notA('must be an object', [], 'x', null),
      [many(1_001), 'must have at most 1000 entries'],
      [{ ['n'.repeat(256)]: 1 }, 'must not have a name of more than 255 characters']
    ]
  },
  post_call_schema: {
    good: [
      [], ['string', 'number', 'bool'].map((type) => ({ ...item, name: type, type })), items(200),
      [item, { ...item, name: 'constructor' }, { ...item, name: 'A'.repeat(255), description: smiley }]
    ],
    bad: [...notA('must be an array', null, {}), [items(201), 'must have at most 200 items']]
  },
  end_call_tool: {
    good: [null, {}, { description: smiley.repeat(500) }],
    bad: notA('must be an object or null', 'x', [])
  }
}

/** What there is in the example catalogue for user 1, and what the guard of URLs says of another protocol. */
function factsOf (body: AssistantBody): AssistantFacts {
  const { voice_id: voiceId = 0, language = '', phone_number_id: numberId, webhook_url: url } = body
  return {
    voiceExists: voiceId >= 1 && voiceId <= 12,
    languageExists: ['English', 'Multilingual'].includes(language),
    ownsPhoneNumber: numberId === 1 || numberId === 2,
    webhookUrlProblem: url?.startsWith('https:') === false ? 'must be an absolute https URL' : undefined
  }
}

const create = submitting(CreateAssistantBody, factsOf, (...given: Parameters<typeof validateNewAssistant>) =>
  validateNewAssistant(...given).settings)
const update = submitting(UpdateAssistantBody, factsOf, (...given: Parameters<typeof validateChanges>) =>
  validateChanges(...given).given)
const required = Object.keys(newAssistant())
const created = (set: object) => ({ made: { ...defaultSettings(), ...newAssistant(set) } })

/** `body` comes beside the required fields. An update has the rules of a creation. */
function isRefused (t: Test, body: object, errors: Record<string, string[]>): void {
  t.same(create(newAssistant(body)), { errors }, `create ${brief(body)}`)
  t.same(update(body), { errors }, `update ${brief(body)}`)
}

t.test('the table covers every field of both bodies', async (t) => {
  const covered = [...Object.keys(assistantFields), literal].sort()
  t.strictSame(Object.keys(CreateAssistantBody.properties).sort(), covered)
  t.strictSame(
    Object.keys(UpdateAssistantBody.properties).sort(), [...covered, 'status'].sort(), 'status is no setting'
  )
})

t.test('each field takes its limits and refuses what is beyond them, with a message', async (t) => {
  for (const [field, { good, bad }] of Object.entries(assistantFields)) {
    for (const value of good) {
      const off = field === 'webhook_url' && value === null && { is_webhook_active: false }
      t.strictSame(create(newAssistant({ [field]: value })), created({ [field]: value }), `create: ${field} takes ${brief(value)}`)
      t.strictSame(update({ [field]: value }), { made: { [field]: value, ...off } }, `update: ${field} takes ${brief(value)}`)
    }
    for (const [value, ...messages] of bad) isRefused(t, { [field]: value }, { [field]: messages })
  }
})

t.test('the nine required fields are required of a new one, with all errors at once; no other is', async (t) => {
  t.equal(required.length, 9)
  t.strictSame(create({}), { errors: Object.fromEntries(required.map((field) => [field, ['is required']])) })
})

t.test('the errors of all fields come at once, whichever rule they break', async (t) => {
  const errors = {
    voice_id: ['must be an available voice'],
    language: ['must be a string'],
    timezone: [noZone],
    phone_number_id: ['must be one of your phone numbers'],
    speech_speed: ['must be between 0.7 and 1.2'],
    record_call: ['must be true or false']
  }
  const missing = { webhook_url: ['is required when is_webhook_active is true'] }
  const wrong = { voice_id: 99, language: 5, timezone: 'UTC', phone_number_id: 3, speech_speed: 2, record_call: null }
  const body = { ...wrong, is_webhook_active: true }
  t.same(create(newAssistant(body)), { errors: { ...errors, ...missing } })
  t.same(update(body), { errors }, 'whether there is a URL is known of the merged settings')
  t.same(update({ ...body, webhook_url: null }), { errors: { ...errors, ...missing } })
  isRefused(t, { is_webhook_active: true, webhook_url: 'http://x' }, { webhook_url: ['must be an absolute https URL'] })
})

t.test('an end_call_tool has a description of at most 500 characters, in either spelling', async (t) => {
  for (const body of [{ [literal]: 'x' }, { end_call_tool: { description: 'x' }, [literal]: 'x' }]) {
    const end_call_tool = { description: 'x' }
    t.same(create(newAssistant(body)), { made: { ...defaultSettings(), ...newAssistant(), end_call_tool } }, `create ${brief(body)}`)
    t.same(update(body), { made: { end_call_tool } }, `update ${brief(body)}`)
  }
  for (const [value, message] of [['x'.repeat(501), 'must be at most 500 characters'], [null, 'must be a string']] as const) {
    isRefused(t, { end_call_tool: { description: value } }, { [literal]: [message] })
    isRefused(t, { [literal]: value }, { [literal]: [message] })
  }
  for (const end_call_tool of [{ description: 'object' }, {}, null]) {
    isRefused(t, { end_call_tool, [literal]: 'literal' }, { [literal]: ['must be the same as in end_call_tool, or left out'] })
  }
})

t.test('a wrong post_call_schema is refused, with every problem at its place', async (t) => {
  for (const [post_call_schema, errors] of refusedSchemas) isRefused(t, { post_call_schema }, errors)
})
