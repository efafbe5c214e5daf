// Every field of an assistant at its limits, on create and on update, over HTTP: what was taken is read back, what was refused left no trace.
import t, { type Test } from 'tap'
import { CreateAssistantBody, UpdateAssistantBody } from '../../src/domain/assistant/settings.js'
import { assistantFields, documentedDefaults, smiley, type FieldCase } from '../support/assistant-fields.js'
import { newAssistant } from '../support/bodies.js'
import { assistantCaller, brief, refusal, told } from '../support/http-assistant.js'
import { testService } from '../support/service.js'

const service = await testService(t)
const { create, update, seen, count } = assistantCaller(service)
const required = Object.keys(newAssistant())

/** All fields at once; the requests of one field follow each other. */
async function forEveryField (fields: Record<string, FieldCase>, check: (field: string, values: FieldCase) => Promise<void>): Promise<void> {
  await Promise.all(Object.entries(fields).map(([field, values]) => check(field, values)))
}

async function checkCreate (t: Test, field: string, { good, bad }: FieldCase): Promise<void> {
  for (const value of good) {
    const created = await create(newAssistant({ [field]: value }))
    t.equal(created.status, 201, `${field} takes ${brief(value)}`)
    t.strictSame((await seen(created)).settings, { ...documentedDefaults, ...newAssistant({ [field]: value }) })
  }
  for (const [value, ...messages] of bad) t.strictSame(told(await create(newAssistant({ [field]: value }))), refusal({ [field]: messages }), `${field} refuses ${brief(value)}`)
}

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
  for (const [value, ...messages] of bad) t.strictSame(told(await update(id, { [field]: value })), refusal({ [field]: messages }), `${field} refuses ${brief(value)}`)
  t.strictSame((await seen(last)).revision, revision, `${field}: what was refused is not written`)
}

t.test('the table covers every field of both bodies', async (t) => {
  const covered = [...Object.keys(assistantFields), 'post_call_schema', 'end_call_tool', 'end_call_tool.description'].sort()
  t.strictSame(Object.keys(CreateAssistantBody.properties).sort(), covered)
  t.strictSame(Object.keys(UpdateAssistantBody.properties).sort(), covered)
})

t.test('create: each field takes its limits and refuses what is beyond, in words', async (t) => {
  const before = await count(await create(newAssistant()))
  await forEveryField(assistantFields, (field, values) => checkCreate(t, field, values))
  const taken = Object.values(assistantFields).reduce((sum, { good }) => sum + good.length, 0)
  t.equal(await count(await create(newAssistant())), before + taken + 1, 'what was refused is not there')
})

t.test('update: each field takes its limits and refuses what is beyond, in words', async (t) => {
  await forEveryField(assistantFields, (field, values) => checkUpdate(t, field, values))
})

t.test('create: the nine required fields are required, all of them told at once; nothing else is', async (t) => {
  t.equal(required.length, 9)
  t.strictSame(told(await create({})), refusal(Object.fromEntries(required.map((field) => [field, ['is required']]))))
  await Promise.all(required.map(async (field) => {
    t.strictSame(told(await create(newAssistant({ [field]: undefined }))), refusal({ [field]: ['is required'] }), field)
  }))
})

t.test('an omitted optional field has its documented default', async (t) => {
  t.strictSame((await seen(await create(newAssistant()))).settings, { ...documentedDefaults, ...newAssistant() })
})

t.test('an end_call_tool is null or an object with a description of at most 500 characters, in either spelling', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  const literal = 'end_call_tool.description'
  const taken: [body: object, stored: unknown][] = [
    ...['', 'x'.repeat(500), smiley.repeat(500)].flatMap((description): [object, unknown][] => [
      [{ end_call_tool: { description } }, { description }], [{ end_call_tool: null }, null], [{ [literal]: description }, { description }]
    ]),
    [{ end_call_tool: {} }, {}],
    [{ end_call_tool: { description: 'object' }, [literal]: 'literal' }, { description: 'object' }],
    [{ end_call_tool: null, [literal]: 'literal' }, null]
  ]
  for (const [body, stored] of taken) {
    t.strictSame((await seen(await create(newAssistant(body)))).settings.end_call_tool, stored, `create ${brief(body)}`)
    t.strictSame((await seen(await update(id, body))).settings.end_call_tool, stored, `update ${brief(body)}`)
  }
  const refused: [value: unknown, message: string, field: string][] = [
    ...['x'.repeat(501), smiley.repeat(501)].map((value): [string, string, string] => [value, 'must be at most 500 characters', literal]),
    ...[null, 5, true, [], {}].map((value): [unknown, string, string] => [value, 'must be a string', literal])
  ]
  for (const [value, message, field] of refused) {
    for (const body of [{ end_call_tool: { description: value } }, { [literal]: value }]) {
      t.strictSame(told(await create(newAssistant(body))), refusal({ [field]: [message] }), `create ${brief(body)}`)
      t.strictSame(told(await update(id, body)), refusal({ [field]: [message] }), `update ${brief(body)}`)
    }
  }
  for (const end_call_tool of ['x', 5, true, []]) t.strictSame(told(await update(id, { end_call_tool })), refusal({ end_call_tool: ['must be an object or null'] }))
})

const item = { name: 'a_1', type: 'string', description: 'x' }

t.test('a post_call_schema is an array of items with name, type and description, and replaces the present one', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  const many = Array.from({ length: 50 }, (_, index) => ({ ...item, name: `n${index}` }))
  for (const post_call_schema of [[], [item], ['string', 'number', 'bool'].map((type) => ({ ...item, name: type, type })), [{ ...item, name: 'A'.repeat(300), description: smiley }], many]) {
    t.strictSame((await seen(await create(newAssistant({ post_call_schema })))).settings.post_call_schema, post_call_schema, `create ${brief(post_call_schema)}`)
    t.strictSame((await seen(await update(id, { post_call_schema }))).settings.post_call_schema, post_call_schema, `update ${brief(post_call_schema)}`)
  }
})

t.test('a post_call_schema with anything wrong is refused, every problem at its place', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  const unfit = 'may only contain letters, digits and underscores'
  const refused: [schema: unknown, errors: Record<string, string[]>][] = [
    ...[null, {}, 'x', 5].map((value): [unknown, Record<string, string[]>] => [value, { post_call_schema: ['must be an array'] }]),
    [[item, null, 'x'], { 'post_call_schema.1': ['must be an object'], 'post_call_schema.2': ['must be an object'] }],
    [[{}], { 'post_call_schema.0.name': ['is required'], 'post_call_schema.0.type': ['is required'], 'post_call_schema.0.description': ['is required'] }],
    ...['a-b', 'a b', 'a\n', 'é', 'a.b'].map((name): [unknown, Record<string, string[]>] => [[item, { ...item, name }], { 'post_call_schema.1.name': [unfit] }]),
    [[{ ...item, name: '' }], { 'post_call_schema.0.name': ['must not be empty', unfit] }],
    ...['boolean', 'String', '', 5, null].map((type): [unknown, Record<string, string[]>] => [[{ ...item, type }], { 'post_call_schema.0.type': ['must be one of: string, number, bool'] }]),
    [[{ ...item, description: '' }], { 'post_call_schema.0.description': ['must not be empty'] }],
    [[{ ...item, name: 5, description: null }], { 'post_call_schema.0.name': ['must be a string'], 'post_call_schema.0.description': ['must be a string'] }],
    [[item, item, { ...item, name: 'A_1' }, item], { 'post_call_schema.1.name': ['must be unique in the schema'], 'post_call_schema.3.name': ['must be unique in the schema'] }],
    [[item, item, null, { ...item, type: 'x' }], { 'post_call_schema.1.name': ['must be unique in the schema'], 'post_call_schema.2': ['must be an object'], 'post_call_schema.3.name': ['must be unique in the schema'], 'post_call_schema.3.type': ['must be one of: string, number, bool'] }]
  ]
  for (const [post_call_schema, errors] of refused) {
    t.same(told(await create(newAssistant({ post_call_schema }))), refusal(errors), `create ${brief(post_call_schema)}`)
    t.same(told(await update(id, { post_call_schema })), refusal(errors), `update ${brief(post_call_schema)}`)
  }
})

t.test('every failing field is told at once, whichever rule it breaks', async (t) => {
  const errors = {
    voice_id: ['must be an available voice'],
    language: ['must be a string'],
    timezone: ['must be an IANA time zone of the form Area/City, such as Europe/Amsterdam'],
    phone_number_id: ['must be one of your phone numbers'],
    speech_speed: ['must be between 0.7 and 1.2'],
    record_call: ['must be true or false']
  }
  const missing = { webhook_url: ['is required when is_webhook_active is true'] }
  const body = { voice_id: 99, language: 5, timezone: 'UTC', phone_number_id: 3, is_webhook_active: true, speech_speed: 2, record_call: null }
  t.same(told(await create(newAssistant(body))), refusal({ ...errors, ...missing }))
  const { id } = (await create(newAssistant())).body.data
  t.same(told(await update(id, body)), refusal(errors), 'of an update whatever is wrong with the body')
  t.same(told(await update(id, { ...body, webhook_url: null })), refusal({ ...errors, ...missing }))
  t.same(told(await update(id, { is_webhook_active: true })), refusal(missing), 'then what is wrong together with what is stored')
})

t.test('a body that is no object is told as such', async (t) => {
  const { id } = (await create(newAssistant())).body.data
  for (const body of ['[]', '"x"', '5', 'null', 'true']) {
    t.strictSame(told(await create(body)), refusal({ body: ['must be a JSON object'] }), body)
    t.strictSame(told(await update(id, body)), refusal({ body: ['must be a JSON object'] }), body)
  }
})
