// Command -> answer: what an outside caller gets for assistants, and for what is no request, on the service that
// `start` runs.
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { startService } from '../../support/running-service.js'

const service = await startService(t)
const { call } = service
const user = await service.token('1')
const other = await service.token('2')

const created = async (given: object = {}) =>
  await call('POST', '/user/assistant', { token: user, body: newAssistant(given) })
const idOf = async (given: object = {}) => (await created(given)).body.data?.id ?? 0
const refusedFields = async (path: string, body: object, method = 'POST') => {
  const answer = await call(method, path, { token: user, body })
  return { status: answer.status, message: answer.body.message, fields: Object.keys(answer.body.errors ?? {}).sort() }
}

t.test('creating an assistant answers 201 with its summary and nothing else', async (t) => {
  const { status, headers, body } = await created({ phone_number_id: 1, variables: { company: { name: 'Example' } } })
  t.equal(status, 201)
  const id = body.data?.id
  t.type(id, 'number')
  t.strictSame(body, {
    message: 'Assistant created successfully',
    data: { id, name: 'Front desk', status: 'active', type: 'inbound', mode: 'pipeline' }
  })
  t.match(headers.get('content-type'), 'application/json')
  t.match(headers.get('x-read-position'), /^\d+$/)
  t.equal(headers.get('etag'), '"0"')
  t.equal(headers.get('x-read-model'), null, 'answered from the read model')
  t.equal(headers.get('x-ignored-fields'), null)
})

t.test('updating changes the given fields only and answers 200 with the new summary', async (t) => {
  const id = await idOf()
  const { status, headers, body } = await call('PUT', `/user/assistant/${id}`, {
    token: user, body: { assistant_name: 'Night desk', engine_type: 'multimodal' }
  })
  t.equal(status, 200)
  t.strictSame(body, {
    message: 'Assistant updated successfully',
    data: { id, name: 'Night desk', status: 'active', type: 'inbound', mode: 'multimodal' }
  })
  t.equal(headers.get('etag'), '"1"')
  t.match(headers.get('x-read-position'), /^\d+$/)
})

t.test('an update that changes nothing answers 200 and appends nothing', async (t) => {
  const id = await idOf()
  const before = await call('PUT', `/user/assistant/${id}`, { token: user, body: { speech_speed: 1.1 } })
  const after = await call('PUT', `/user/assistant/${id}`, { token: user, body: { speech_speed: 1.1 } })
  t.equal(after.status, 200)
  t.equal(after.headers.get('etag'), before.headers.get('etag'))
  t.equal(after.headers.get('x-read-position'), before.headers.get('x-read-position'))
})

t.test('a field that nobody knows is ignored and named', async (t) => {
  const { status, headers } = await created({ colour: 'red', 'späße, ja': 1 })
  t.equal(status, 201)
  t.equal(headers.get('x-ignored-fields'), 'colour, sp%C3%A4%C3%9Fe%2C%20ja')
})

t.test('every field that is wrong is named at once', async (t) => {
  t.same(await refusedFields('/user/assistant', {
    voice_id: '1', language: 'Klingon', speech_speed: 2, post_call_schema: [{ name: 'a b', type: 'string' }]
  }), {
    status: 422,
    message: 'The given data was invalid.',
    fields: [
      'assistant_name', 'calls_direction', 'engine_type', 'initial_message', 'language', 'llm_model',
      'post_call_schema.0.description', 'post_call_schema.0.name', 'speech_speed', 'system_prompt', 'timezone',
      'voice_id'
    ]
  })
})

t.test('the webhook needs a URL when it is on, and null takes it away', async (t) => {
  t.same((await refusedFields('/user/assistant', newAssistant({ is_webhook_active: true }))).fields, ['webhook_url'])
  const id = await idOf({ is_webhook_active: true, webhook_url: 'https://example.com/hooks' })
  t.equal((await call('PUT', `/user/assistant/${id}`, {
    token: user, body: { webhook_url: null, phone_number_id: null }
  })).status, 200)
  t.same((await refusedFields(`/user/assistant/${id}`, { is_webhook_active: true }, 'PUT')).fields, ['webhook_url'])
})

t.test('an assistant of somebody else is not found, like one that is not there', async (t) => {
  const id = await idOf()
  const notFound = { message: 'Assistant not found or does not belong to the authenticated user' }
  for (const [path, token] of [
    [id, other], [999_999, user], ['abc', user], ['1e2', user], ['0', user], ['9007199254740993', user]
  ] as const) {
    const { status, body } =
      await call('PUT', `/user/assistant/${path}`, { token, body: { assistant_name: 'Mine now' } })
    t.equal(status, 404, `PUT /user/assistant/${path}`)
    t.strictSame(body, notFound)
  }
  const { body } = await call('PUT', `/user/assistant/${id}`, { token: user, body: {} })
  t.equal(body.data?.name, 'Front desk', 'and it did not change')
})

t.test('phone numbers and campaigns of somebody else are refused on their field', async (t) => {
  t.same((await refusedFields('/user/assistant', newAssistant({ phone_number_id: 3 }))).fields, ['phone_number_id'])
  t.same(
    (await refusedFields(`/user/assistant/${await idOf()}`, { phone_number_id: 3 }, 'PUT')).fields, ['phone_number_id']
  )
  t.same((await refusedFields('/user/lead', newLead({ campaign_id: 3 }))).fields, ['campaign_id'])
})

t.test('what is no request is a 4xx with a message, never a stack', async (t) => {
  const badRequests = [
    ['POST', '/user/assistant', '{"assistant_name":', 400],
    ['POST', '/user/assistant', '{"__proto__":{"a":1}}', 400],
    ['POST', '/user/assistant', '[]', 422],
    ['PUT', '/user/assistant/%zz', '{}', 400],
    ['POST', '/user/lead', JSON.stringify({ phone_number: 'x'.repeat(600_000) }), 413],
    ['GET', '/user/nowhere', undefined, 404]
  ] as const
  for (const [method, path, body, expected] of badRequests) {
    const answer = await call(method, path, { token: user, body })
    t.equal(answer.status, expected, `${method} ${path} ${body?.slice(0, 20) ?? ''}`)
    t.same(Object.keys(answer.body).filter((key) => key !== 'errors'), ['message'])
  }
  const { status, body } = await call('POST', '/user/lead', {
    token: user, body: 'phone_number=1', headers: { 'content-type': 'application/x-www-form-urlencoded' }
  })
  t.equal(status, 415)
  t.same(Object.keys(body), ['message'])
})

t.test('the API document is there, offline', async (t) => {
  const page = await fetch(`${service.url}/docs`)
  t.equal(page.status, 200)
  const { body } = await call('GET', '/docs/json')
  t.ok(Object.hasOwn((body as { paths?: object }).paths ?? {}, '/user/assistant'))
})
