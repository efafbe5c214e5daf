// Every field of an assistant at its limits, on create and on update.
import t, { type Test } from 'tap'
import {
  type AssistantBody, type AssistantFacts, CreateAssistantBody, UpdateAssistantBody, validateChanges,
  validateNewAssistant
} from '../../../src/features/assistants/validate.js'
import { documentedDefaults, newAssistant } from '../../support/bodies/bodies.js'
import { submitting } from '../../support/commands/given.js'
import { brief } from '../../support/scenes/scenes.js'

interface FieldCase {
  good: unknown[]
  bad: [value: unknown, ...messages: string[]][]
}

const smiley = '😀' // two UTF-16 units, one code point
const notA = (message: string, ...values: unknown[]): FieldCase['bad'] => values.map((value) => [value, message])
const notText = notA('must be a string', 5, true, null, [], {})

function text (longest?: number): FieldCase {
  const limits: FieldCase = longest === undefined
    ? { good: ['x'.repeat(20_000)], bad: [] }
    : {
        good: ['x'.repeat(longest), smiley.repeat(longest)],
        bad: notA(`must be at most ${longest} characters`, 'x'.repeat(longest + 1), smiley.repeat(longest + 1))
      }
  return { good: ['x', ' ', 'a\nb\t"\\', ...limits.good], bad: [['', 'must not be empty'], ...limits.bad, ...notText] }
}

/** Zero-width space and joiner, soft hyphen, mark of direction, Hangul filler, blank of Braille, tag, control. */
const invisible = ['\u200b', '\u200d\u200c', '\u00ad', '\u202e ', '\u3164', '\u2800', '\u{e0041}', '\u0001', '\ufe0f']

function label (longest: number): FieldCase {
  const { good, bad } = text(longest)
  const blank = notA('must not be blank', ' ', '   ', '\n', '\t \u00a0', '\u2003', ...invisible)
  return { good: good.map((value) => value === ' ' ? ' x ' : value).concat('👩‍👧', 'نام‌ها', '́'), bad: [...bad, ...blank] }
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`v${n}`, n]))

const flag: FieldCase = { good: [true, false], bad: notA('must be true or false', 'true', 1, 0, null, [], {}) }

const choice = (...values: string[]): FieldCase => ({
  good: values,
  bad: notA(
    `must be one of: ${values.join(', ')}`, '', `${values[0]} `, values[0]?.toUpperCase(), 0, null, true, [values[0]]
  )
})

const number = (least: number, most: number): FieldCase => ({
  good: [least, most, (least + most) / 2],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 0.001, most + 0.001, -1e9, 1e9),
    ...notA('must be a number', String(most), null, true, [], {})
  ]
})

const whole = (least: number, most: number): FieldCase => ({
  good: [least, most, least + 1],
  bad: [
    ...notA(`must be between ${least} and ${most}`, least - 1, most + 1),
    ...notA('must be an integer', least + 0.5, String(most), null, true, [], {})
  ]
})

/** `owned` by the user or there for everybody; `missing` for everything else that could be one. */
const id = (type: string, owned: unknown[], missing: string, ...others: number[]): FieldCase => ({
  good: owned,
  bad: [
    ...notA(missing, ...others, 2 ** 31, Number.MAX_SAFE_INTEGER), ...notA('must be at least 1', 0, -1),
    ...notA('must be between 1 and 9007199254740991', 2 ** 53, 1e300),
    ...notA(`must be ${type}`, 1.5, '1', true, [], {})
  ]
})

const literal = 'end_call_tool.description'

const takenTools: [body: object, stored: unknown][] = [
  ...['', 'x'.repeat(500), smiley.repeat(500)].flatMap((description): [object, unknown][] => [
    [{ end_call_tool: { description } }, { description }],
    [{ end_call_tool: null }, null],
    [{ [literal]: description }, { description }]
  ]),
  [{ end_call_tool: {} }, {}],
  [{ end_call_tool: { description: 'same' }, [literal]: 'same' }, { description: 'same' }]
]

/** Both spellings at once, with different values. */
const contradictoryTools: object[] = [{ description: 'object' }, { description: 'literal ' }, {}, null]
  .map((end_call_tool) => ({ end_call_tool, [literal]: 'literal' })).concat({ end_call_tool: null, [literal]: '' })

const refusedDescriptions: [value: unknown, message: string][] = [
  ...['x'.repeat(501), smiley.repeat(501)].map((value): [string, string] => [value, 'must be at most 500 characters']),
  ...[null, 5, true, [], {}].map((value): [unknown, string] => [value, 'must be a string'])
]

const item = { name: 'a_1', type: 'string', description: 'x' }

const takenSchemas = [
  [],
  [item, { ...item, name: 'constructor' }, { ...item, name: '__proto' }],
  ['string', 'number', 'bool'].map((type) => ({ ...item, name: type, type })),
  [{ ...item, name: 'A'.repeat(255), description: smiley }],
  Array.from({ length: 200 }, (_, index) => ({ ...item, name: `n${index}` }))
]

type RefusedSchema = [schema: unknown, errors: Record<string, string[]>]

const unfit = 'may only contain letters, digits and underscores'
const noType = 'must be one of: string, number, bool'
const repeated = 'must be unique in the schema'

const refusedSchemas: RefusedSchema[] = [
  ...[null, {}, 'x', 5].map((value): RefusedSchema => [value, { post_call_schema: ['must be an array'] }]),
  [[item, null, 'x'], { 'post_call_schema.1': ['must be an object'], 'post_call_schema.2': ['must be an object'] }],
  [Array.from({ length: 201 }, (_, index) => ({ ...item, name: `n${index}` })), { post_call_schema: ['must have at most 200 items'] }],
  [[{}], {
    'post_call_schema.0.name': ['is required'],
    'post_call_schema.0.type': ['is required'],
    'post_call_schema.0.description': ['is required']
  }],
  ...['a-b', 'a b', 'a\n', 'é', 'a.b'].map((name): RefusedSchema =>
    [[item, { ...item, name }], { 'post_call_schema.1.name': [unfit] }]),
  [[{ ...item, name: '' }], { 'post_call_schema.0.name': ['must not be empty', unfit] }],
  [[item, { ...item, name: 'A'.repeat(256) }], { 'post_call_schema.1.name': ['must be at most 255 characters'] }],
  [[{ ...item, name: '__proto__' }], { 'post_call_schema.0.name': ['must not be __proto__'] }],
  ...['boolean', 'String', '', 5, null].map((type): RefusedSchema =>
    [[{ ...item, type }], { 'post_call_schema.0.type': [noType] }]),
  [[{ ...item, description: '' }], { 'post_call_schema.0.description': ['must not be empty'] }],
  [[{ ...item, name: 5, description: null }], {
    'post_call_schema.0.name': ['must be a string'], 'post_call_schema.0.description': ['must be a string']
  }],
  [[item, item, { ...item, name: 'A_1' }, item], {
    'post_call_schema.1.name': [repeated], 'post_call_schema.3.name': [repeated]
  }],
  [[item, item, null, { ...item, type: 'x' }], {
    'post_call_schema.1.name': [repeated],
    'post_call_schema.2': ['must be an object'],
    'post_call_schema.3.name': [repeated],
    'post_call_schema.3.type': [noType]
  }]
]

// The interface's table of assistant fields: the values that each takes, and those it refuses, with the messages.
const noZone = 'must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'
const noZones = [
  'UTC', 'GMT', 'EST', 'CET', 'Europe', 'Europe/', '/Amsterdam', 'Europe/Atlantis', 'Europe/Amsterdam ',
  'Europe//Amsterdam', ' Europe/Amsterdam', 'Europe/Amsterdam/', 'posix/Europe/Amsterdam', '+02:00', 'GMT+2',
  'SystemV/EST5EDT', 'Europe/Kıev', 'Europe/\u212Ayiv', 'x'.repeat(10_000)
]
const voice = id('an integer', [1, 12], 'must be an available voice', 13)

/** Cases of numbers, choices and flags; the golden API document has their limits. */
function caseOf ({ type, enum: values, minimum = NaN, maximum = NaN }: Partial<Limits>): FieldCase[] {
  if (values) return [choice(...values)]
  if (type === 'boolean') return [flag]
  if (type === 'integer') return [whole(minimum, maximum)]
  return type === 'number' ? [number(minimum, maximum)] : []
}

interface Limits { type: string, enum: string[], minimum: number, maximum: number }

/** On the example catalogue, for user 1. `post_call_schema` and `end_call_tool` are more than one value each. */
const assistantFields: Record<string, FieldCase> = {
  ...Object.fromEntries(Object.entries(CreateAssistantBody.properties)
    .flatMap(([name, schema]) => caseOf(schema as Partial<Limits>).map((each) => [name, each]))),
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
  is_webhook_active: { ...flag, good: [false] }, // true needs a URL
  webhook_url: {
    good: [
      null, 'https://example.com', 'https://example.com:8443/a?b=c', 'https://8.8.8.8/',
      'https://[2606:4700::1]/', `https://example.com/${'x'.repeat(2_028)}`
    ],
    bad: [
      ['', 'must not be empty'],
      [`https://example.com/${'x'.repeat(2_029)}`, 'must be at most 2048 characters'],
      [`https://example.com/${'ü'.repeat(500)}`, 'must be at most 2048 characters'], // as it is called
      ['http://example.com', 'must be an absolute https URL'], // tests of the guard have the others
      ...notA('must be a string or null', 5, true, [], {})
    ]
  },
  variables: {
    good: [{}, many(1_000), { a: null, b: [1, { c: 'd' }], '': 0, [smiley.repeat(255)]: 0.1, customer: { name: 'Ada' } }],
    bad: [
      ...notA('must be an object', [], 'x', 5, true, null),
      [many(1_001), 'must have at most 1000 entries'],
      ...notA('must not have a name of more than 255 characters', { ['n'.repeat(256)]: 1, ['m'.repeat(256)]: 1 })
    ]
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
const created = (set: object) => ({ made: { ...documentedDefaults, ...newAssistant(set) } })

/** `body` comes beside the required fields. An update has the rules of a creation. */
function isRefused (t: Test, body: object, errors: Record<string, string[]>): void {
  t.same(create(newAssistant(body)), { errors }, `create ${brief(body)}`)
  t.same(update(body), { errors }, `update ${brief(body)}`)
}

t.test('the table covers every field of both bodies', async (t) => {
  const covered = [...Object.keys(assistantFields), 'post_call_schema', 'end_call_tool', literal].sort()
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
  for (const field of required) {
    const { [field]: _, ...others } = newAssistant() as Record<string, unknown>
    t.strictSame(create(others), { errors: { [field]: ['is required'] } }, field)
  }
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

t.test('an end_call_tool is null or has a description of at most 500 characters, in either spelling', async (t) => {
  for (const [body, end_call_tool] of takenTools) {
    t.same(create(newAssistant(body)), { made: { ...documentedDefaults, ...newAssistant(), end_call_tool } }, `create ${brief(body)}`)
    t.same(update(body), { made: { end_call_tool } }, `update ${brief(body)}`)
  }
  for (const [value, message] of refusedDescriptions) {
    isRefused(t, { end_call_tool: { description: value } }, { [literal]: [message] })
    isRefused(t, { [literal]: value }, { [literal]: [message] })
  }
  for (const body of contradictoryTools) {
    isRefused(t, body, { [literal]: ['must be the same as in end_call_tool, or left out'] })
  }
  for (const end_call_tool of ['x', 5, true, []]) isRefused(t, { end_call_tool }, { end_call_tool: ['must be an object or null'] })
})

t.test('a post_call_schema is an array of name, type and description, and replaces the present one', async (t) => {
  for (const post_call_schema of takenSchemas) {
    t.strictSame(create(newAssistant({ post_call_schema })), created({ post_call_schema }), `create ${brief(post_call_schema)}`)
    t.strictSame(update({ post_call_schema }), { made: { post_call_schema } }, `update ${brief(post_call_schema)}`)
  }
})

t.test('a wrong post_call_schema is refused, with every problem at its place', async (t) => {
  for (const [post_call_schema, errors] of refusedSchemas) isRefused(t, { post_call_schema }, errors)
})
