// Every field of an assistant at its limits, on create and on update: accepted values are read back.
import t, { type Test } from 'tap'
import { CreateAssistantBody, UpdateAssistantBody } from '../../../src/domain/assistant/bodies.js'
import { assistantFields } from '../../support/bodies/assistant-fields.js'
import { documentedDefaults } from '../../support/bodies/documented-defaults.js'
import type { FieldCase } from '../../support/bodies/field-cases.js'
import { literal } from '../../support/bodies/assistant-object-cases.js'
import { newAssistant } from '../../support/bodies/bodies.js'
import { assistantCaller, brief, refusal, told } from '../../support/http/http-assistant.js'
import { testService } from '../../support/service.js'

const service = await testService(t, undefined, { READ_MODEL_WAIT_MS: '20000' }) // many writes at once, and all are read
const { create, update, seen, count } = assistantCaller(service)
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
  for (const [value, ...messages] of bad) {
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

t.test('an omitted optional field has its documented default', async (t) => {
  t.strictSame((await seen(await create(newAssistant()))).settings, { ...documentedDefaults, ...newAssistant() })
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
