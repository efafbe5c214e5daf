// Every field of an assistant at its limits, on create and on update: accepted values are read back.
import t, { type Test } from 'tap'
import { CreateAssistantBody, UpdateAssistantBody } from '../../../src/features/assistants/validate.js'
import { documentedDefaults, newAssistant } from '../../support/bodies/bodies.js'
import { brief, refusal, told } from '../../support/scenes/scenes.js'
import { eventually } from '../../support/eventually.js'
import type { Answer } from '../../support/running-service.js'
import { testService } from '../../support/service.js'
import { privateHosts, zoned } from '../../support/receivers/private-hosts.js'

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

/** A text that people know something by. */
function label (longest: number): FieldCase {
  const { good, bad } = text(longest)
  const blank = notA('must not be blank', ' ', '   ', '\n', '\t \u00a0', '\u2003', ...invisible)
  return { good: good.map((value) => value === ' ' ? ' x ' : value).concat('👩‍👧', 'نام‌ها', '́'), bad: [...bad, ...blank] }
}

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
const contradictoryTools: object[] = [
  { end_call_tool: { description: 'object' }, [literal]: 'literal' },
  { end_call_tool: { description: 'literal ' }, [literal]: 'literal' },
  { end_call_tool: {}, [literal]: 'literal' },
  { end_call_tool: {}, [literal]: '' },
  { end_call_tool: null, [literal]: 'literal' },
  { end_call_tool: null, [literal]: '' }
]

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
  Array.from({ length: 50 }, (_, index) => ({ ...item, name: `n${index}` }))
]

type RefusedSchema = [schema: unknown, errors: Record<string, string[]>]

const unfit = 'may only contain letters, digits and underscores'
const noType = 'must be one of: string, number, bool'
const repeated = 'must be unique in the schema'

const refusedSchemas: RefusedSchema[] = [
  ...[null, {}, 'x', 5].map((value): RefusedSchema => [value, { post_call_schema: ['must be an array'] }]),
  [[item, null, 'x'], { 'post_call_schema.1': ['must be an object'], 'post_call_schema.2': ['must be an object'] }],
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
const assistantFields: Record<string, FieldCase> = {
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
      null, 'https://example.com', 'https://example.com:8443/a?b=c', 'https://8.8.8.8/',
      'https://[2606:4700::1]/', `https://example.com/${'x'.repeat(2_028)}`
    ],
    bad: [
      ['', 'must not be empty'],
      [`https://example.com/${'x'.repeat(2_029)}`, 'must be at most 2048 characters'],
      [`https://example.com/${'ü'.repeat(500)}`, 'must be at most 2048 characters'], // as it is called
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

const service = await testService(t, undefined, { READ_MODEL_WAIT_MS: '20000' }) // many writes at once, and all are read
const { call } = service
const create = (body: unknown): Promise<Answer> => call('POST', '/user/assistant', body)
const update = (id: number, body: unknown): Promise<Answer> => call('PUT', `/user/assistant/${id}`, body)

/** Not older than `after`; repeated, as a caller would do, while the read model is late (503). */
async function read (path: string, { headers }: Answer): Promise<Answer> {
  const position = headers.get('x-read-position') ?? ''
  return await eventually(async () => {
    const answer = await call('GET', path, undefined, { headers: { 'x-read-position': position } })
    return answer.status !== 503 && answer
  })
}

/** The assistant that a write answered with, not older than that write. */
const seen = async (written: Answer): Promise<{ settings: Record<string, unknown>, revision: number }> =>
  (await read(`/user/assistant/${written.body.data.id}`, written)).body.data

/** How many assistants the user has, at the position of `after`. */
const count = async (after: Answer): Promise<number> => (await read('/user/assistants', after)).body.meta.total
const required = Object.keys(newAssistant())

/** All fields at once; the requests of one field follow each other. */
async function forEveryField (
  fields: Record<string, FieldCase>, check: (field: string, values: FieldCase) => Promise<void>
): Promise<void> {
  await Promise.all(Object.entries(fields).map(([field, values]) => check(field, values)))
}

async function checkCreate (t: Test, field: string, { good, bad }: FieldCase): Promise<void> {
  for (const value of good) {
    const created = await create(newAssistant({ [field]: value }))
    t.equal(created.status, 201, `${field} takes ${brief(value)}`)
    t.strictSame((await seen(created)).settings, { ...documentedDefaults, ...newAssistant({ [field]: value }) })
  }
  for (const [value, ...messages] of bad) {
    const answer = await create(newAssistant({ [field]: value }))
    t.strictSame(told(answer), refusal({ [field]: messages }), `${field} refuses ${brief(value)}`)
  }
}

/** Of values that break one rule the first: an update has the rules of `create`. */
const oneOfARule = ([, ...messages]: FieldCase['bad'][number], index: number, all: FieldCase['bad']) =>
  all.findIndex(([, ...others]) => others.join() === messages.join()) === index

async function checkUpdate (t: Test, field: string, { good, bad }: FieldCase): Promise<void> {
  let last = await create(newAssistant())
  const { id } = last.body.data
  let { settings, revision } = await seen(last)
  for (const value of good) {
    last = await update(id, { [field]: value })
    t.equal(last.status, 200, `${field} takes ${brief(value)}`)
    if (brief(value) !== brief(settings[field])) revision++
    settings = { ...settings, [field]: value }
    const now = await seen(last)
    t.strictSame({ settings: now.settings, revision: now.revision }, { settings, revision })
  }
  for (const [value, ...messages] of bad.filter(oneOfARule)) {
    const answer = await update(id, { [field]: value })
    t.strictSame(told(answer), refusal({ [field]: messages }), `${field} refuses ${brief(value)}`)
  }
  t.strictSame((await seen(last)).revision, revision, `${field}: what was refused is not written`)
}

t.test('the table covers every field of both bodies', async (t) => {
  const covered = [...Object.keys(assistantFields), 'post_call_schema', 'end_call_tool', literal].sort()
  t.strictSame(Object.keys(CreateAssistantBody.properties).sort(), covered)
  t.strictSame(
    Object.keys(UpdateAssistantBody.properties).sort(), [...covered, 'status'].sort(), 'status is no setting'
  )
})

t.test('create: each field takes its limits and refuses what is beyond them, with a message', async (t) => {
  const before = await count(await create(newAssistant()))
  await forEveryField(assistantFields, (field, values) => checkCreate(t, field, values))
  const taken = Object.values(assistantFields).reduce((sum, { good }) => sum + good.length, 0)
  t.equal(await count(await create(newAssistant())), before + taken + 1, 'what was refused is not there')
})

t.test('update: each field takes its limits and refuses what is beyond them, with a message', async (t) => {
  await forEveryField(assistantFields, (field, values) => checkUpdate(t, field, values))
})

t.test('create: the nine required fields are required, with all errors at once; no other is', async (t) => {
  t.equal(required.length, 9)
  t.strictSame(told(await create({})), refusal(Object.fromEntries(required.map((field) => [field, ['is required']]))))
  await Promise.all(required.map(async (field) => {
    t.strictSame(told(await create(newAssistant({ [field]: undefined }))), refusal({ [field]: ['is required'] }), field)
  }))
})

t.test('the errors of all fields come at once, whichever rule they break', async (t) => {
  const errors = {
    voice_id: ['must be an available voice'],
    language: ['must be a string'],
    timezone: ['must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'],
    phone_number_id: ['must be one of your phone numbers'],
    speech_speed: ['must be between 0.7 and 1.2'],
    record_call: ['must be true or false']
  }
  const missing = { webhook_url: ['is required when is_webhook_active is true'] }
  const wrong = { voice_id: 99, language: 5, timezone: 'UTC', phone_number_id: 3, speech_speed: 2, record_call: null }
  const body = { ...wrong, is_webhook_active: true }
  t.same(told(await create(newAssistant(body))), refusal({ ...errors, ...missing }))
  const { id } = (await create(newAssistant())).body.data
  t.same(told(await update(id, body)), refusal(errors), 'of an update all errors of the body come first')
  t.same(told(await update(id, { ...body, webhook_url: null })), refusal({ ...errors, ...missing }))
  const onItsOwn = await update(id, { is_webhook_active: true })
  t.same(told(onItsOwn), refusal(missing), 'then what is wrong together with what is stored')
})

t.test('a body that is no object has an error on `body` alone', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const body of ['[]', '"x"', '5', 'null', 'true']) {
    t.strictSame(told(await create(body)), refusal({ body: ['must be a JSON object'] }), body)
    t.strictSame(told(await update(id, body)), refusal({ body: ['must be a JSON object'] }), body)
  }
})

t.test('an end_call_tool is null or has a description of at most 500 characters, in either spelling', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const [body, stored] of takenTools) {
    t.strictSame((await seen(await create(newAssistant(body)))).settings.end_call_tool, stored, `create ${brief(body)}`)
    t.strictSame((await seen(await update(id, body))).settings.end_call_tool, stored, `update ${brief(body)}`)
  }
  for (const [value, message] of refusedDescriptions) {
    for (const body of [{ end_call_tool: { description: value } }, { [literal]: value }]) {
      t.strictSame(told(await create(newAssistant(body))), refusal({ [literal]: [message] }), `create ${brief(body)}`)
      t.strictSame(told(await update(id, body)), refusal({ [literal]: [message] }), `update ${brief(body)}`)
    }
  }
  for (const body of contradictoryTools) {
    const contradicts = refusal({ [literal]: ['must be the same as in end_call_tool, or left out'] })
    t.strictSame(told(await create(newAssistant(body))), contradicts, `create ${brief(body)}`)
    t.strictSame(told(await update(id, body)), contradicts, `update ${brief(body)}`)
  }
  for (const end_call_tool of ['x', 5, true, []]) {
    t.strictSame(told(await update(id, { end_call_tool })), refusal({ end_call_tool: ['must be an object or null'] }))
  }
})

t.test('a post_call_schema is an array of name, type and description, and replaces the present one', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const post_call_schema of takenSchemas) {
    const created = await seen(await create(newAssistant({ post_call_schema })))
    t.strictSame(created.settings.post_call_schema, post_call_schema, `create ${brief(post_call_schema)}`)
    const updated = await seen(await update(id, { post_call_schema }))
    t.strictSame(updated.settings.post_call_schema, post_call_schema, `update ${brief(post_call_schema)}`)
  }
})

t.test('a wrong post_call_schema is refused, with every problem at its place', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const [post_call_schema, errors] of refusedSchemas) {
    t.same(told(await create(newAssistant({ post_call_schema }))), refusal(errors), `create ${brief(post_call_schema)}`)
    t.same(told(await update(id, { post_call_schema })), refusal(errors), `update ${brief(post_call_schema)}`)
  }
})
