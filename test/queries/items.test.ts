// Single things: everything there is to know of one of the user's own, and a 404 for anything else.
import t from 'tap'
import { defaultSettings } from '../../src/domain/assistant/settings.js'
import { call as report } from '../support/call-events.js'
import { eventually } from '../support/eventually.js'
import { answers, receiver } from '../support/receiver.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t, ['api', 'projector', 'worker'], {
  WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', WEBHOOK_SCHEDULE: '0s,1h'
})
const { call } = service
const hook = await receiver(t)
const get = async (path: string, user = '1') => await call('GET', path, undefined, { user })
const create = async (body: object = {}, user = '1') =>
  (await call('POST', '/user/assistant', { ...newAssistant, ...body }, { user })).body.data.id
const createLead = async (phone_number: string, contacts: string[] = []) => (await call('POST', '/user/lead', {
  phone_number, campaign_id: 1, secondary_contacts: contacts.map((phone_number) => ({ phone_number }))
})).body.data
const complete = async (callId: string, body: object) => {
  const { call_id, ...rest } = report(callId)
  const headers = { authorization: `Bearer ${await service.token('engine', 'engine')}` }
  return await call('POST', `/engine/calls/${callId}/completed`, { ...rest, ...body }, { headers })
}
const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('an assistant is its summary, settings, revision, times and webhook, with its revision as ETag', async (t) => {
  const given = {
    variables: { a: [1.5, { b: null }] }, end_call_tool: { description: 'When done' }, llm_temperature: 0.25
  }
  const id = await create(given)
  const { status, headers, body } = await get(`/user/assistant/${id}`)
  t.equal(status, 200)
  t.equal(headers.get('etag'), '"0"')
  const { created_at, updated_at, ...rest } = body.data
  t.same(rest, {
    ...{ id, name: 'Front desk', status: 'active', type: 'inbound', mode: 'pipeline' },
    settings: { ...defaultSettings(), ...newAssistant, ...given },
    revision: 0,
    webhook: { state: 'off', reason: null, since: null }
  })
  t.match(created_at, at)
  t.equal(updated_at, created_at)
})

t.test('the settings of an assistant can be sent back as they are, and change nothing', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url, phone_number_id: 1 })
  const before = await get(`/user/assistant/${id}`)
  const { status, headers } = await call('PUT', `/user/assistant/${id}`, before.body.data.settings)
  t.equal(status, 200)
  t.equal(headers.get('etag'), before.headers.get('etag'))
  t.same((await get(`/user/assistant/${id}`)).body, before.body)
  t.same(before.body.data.webhook, { state: 'on', reason: null, since: null })
})

t.test('the ETag of a read holds for an update, until somebody else updates', async (t) => {
  const id = await create()
  const etag = (await get(`/user/assistant/${id}`)).headers.get('etag') ?? ''
  const update = async (name: string) =>
    await call('PUT', `/user/assistant/${id}`, { assistant_name: name }, { headers: { 'if-match': etag } })
  t.equal((await update('One')).status, 200)
  t.equal((await update('Two')).status, 412)
})

t.test('the history tells every change, newest first, with what was there before', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk' })
  await call('PUT', `/user/assistant/${id}`, { variables: { a: 1 }, phone_number_id: 1 })
  const { status, body } = await get(`/user/assistant/${id}/history`)
  t.equal(status, 200)
  t.same(body.meta, { page: 1, per_page: 15, total: 3, last_page: 1 })
  const [third, second, first] = body.data
  t.same(Object.keys(third), ['revision', 'event', 'at', 'changes'])
  t.match(third, { revision: 2, event: 'AssistantUpdated', at })
  t.same(third.changes.toSorted((a: { field: string }, b: { field: string }) => a.field < b.field ? -1 : 1), [
    { field: 'phone_number_id', from: null, to: 1 }, { field: 'variables', from: {}, to: { a: 1 } }
  ])
  t.same(second.changes, [{ field: 'assistant_name', from: 'Front desk', to: 'Night desk' }])
  t.match(first, { revision: 0, event: 'AssistantCreated' })
  t.ok(first.changes.some((change: object) =>
    JSON.stringify(change) === '{"field":"speech_speed","from":null,"to":1.1}'))
  const page = (await get(`/user/assistant/${id}/history?per_page=1&page=2`)).body
  t.same(page, { data: [second], meta: { page: 2, per_page: 1, total: 3, last_page: 3 } })
})

t.test('a lead is the object that its creation answered', async (t) => {
  const lead = await createLead('+15558880001', ['+15558880002', '+15558880003'])
  t.same((await get(`/user/lead/${lead.id}`)).body, { data: lead })
  t.equal((await get(`/user/lead/${lead.secondary_contacts[0].id}`)).status, 404, 'a secondary contact is no lead')
})

t.test('a call tells what was said and what became of its webhook', async (t) => {
  const id = await create({ is_webhook_active: true, webhook_url: hook.url })
  const lead = await createLead('+15558880010')
  const { status, headers } =
    await complete('told', { assistant_id: id, lead_id: lead.id, started_at: '2026-01-31T13:00:00+01:00' })
  t.equal(status, 202)
  const delivered = await eventually(async () => {
    const { body } = await call('GET', '/user/call/told', undefined, {
      headers: { 'x-read-position': headers.get('x-read-position') ?? '' }
    })
    return body.data.deliveries[0]?.status === 'delivered' && body.data
  })
  const { deliveries, ...rest } = delivered
  const { call_id, lead_status, ...reported } = report('told')
  t.same(rest, { call_id, ...reported, assistant_id: id, lead_id: lead.id, started_at: '2026-01-31T12:00:00.000Z' })
  t.equal(deliveries.length, 1)
  t.same(Object.keys(deliveries[0]), [
    'id', 'call_id', 'assistant_id', 'type', 'status', 'reason', 'attempt_count', 'next_attempt_at', 'created_at',
    'attempts'
  ])
  t.match(deliveries[0], {
    id: hook.received.at(-1)?.headers['webhook-id'],
    call_id,
    assistant_id: id,
    type: 'call.completed',
    reason: null,
    attempt_count: 1,
    next_attempt_at: null,
    created_at: at
  })
  t.same(Object.keys(deliveries[0].attempts[0]), [
    'n', 'trigger', 'started_at', 'finished_at', 'outcome', 'status_code', 'duration_ms', 'error', 'response_excerpt'
  ])
  t.match(deliveries[0].attempts, [{
    n: 1, trigger: 'schedule', started_at: at, finished_at: at, outcome: 'delivered', status_code: 200, error: null
  }])
  t.equal((await get(`/user/lead/${lead.id}`)).body.data.status, 'completed')
})

t.test('a failed delivery says when it is tried next, and one that is not sent why', async (t) => {
  const failing = await receiver(t, answers(500, {}, 'broken'))
  const [on, off] = [await create({ is_webhook_active: true, webhook_url: failing.url }), await create()]
  await complete('failing', { assistant_id: on })
  await complete('silent', { assistant_id: off })
  const [failed, silent] = await eventually(async () => {
    const found = [
      (await get('/user/call/failing')).body.data.deliveries[0],
      (await get('/user/call/silent')).body.data.deliveries[0]
    ]
    return found[0].attempts[0].outcome !== null && found[1] !== undefined && found
  })
  t.match(failed, {
    status: 'scheduled',
    attempt_count: 1,
    next_attempt_at: at,
    attempts: [{ status_code: 500, response_excerpt: 'broken' }]
  })
  t.match(silent, { status: 'skipped', reason: 'webhook_off', attempts: [], next_attempt_at: null })
})

t.test('a suspended webhook shows on its assistant', async (t) => {
  const gone = await receiver(t, answers(410))
  const id = await create({ is_webhook_active: true, webhook_url: gone.url })
  await complete('gone', { assistant_id: id })
  const webhook = await eventually(async () => {
    const { body } = await get(`/user/assistant/${id}`)
    return body.data.webhook.state === 'suspended' && body.data.webhook
  })
  t.match(webhook, { state: 'suspended', reason: 'gone', since: at })
  await call('PUT', `/user/assistant/${id}`, { is_webhook_active: false })
  t.same((await get(`/user/assistant/${id}`)).body.data.webhook, { state: 'off', reason: null, since: null })
})

t.test('calls are listed without what was said, those that ended last first, and filtered', async (t) => {
  const [one, two] = [await create(), await create()]
  const lead = await createLead('+15558880020')
  await complete('list-1', { assistant_id: one, ended_at: '2025-03-01T10:00:00Z' })
  await complete('list-2', { assistant_id: one, ended_at: '2025-03-03T10:00:00Z', status: 'busy', lead_id: lead.id })
  const { headers } = await complete('list-3', { assistant_id: two, ended_at: '2025-03-02T10:00:00Z' })
  const position = { headers: { 'x-read-position': headers.get('x-read-position') ?? '' } }
  const ids = async (query: string) => {
    const { body } = await call('GET', `/user/calls?date_to=2025-12-31&${query}`, undefined, position)
    t.equal(body.meta.total, body.data.length)
    return body.data.map(({ call_id }: { call_id: string }) => call_id)
  }
  t.same(await ids(''), ['list-2', 'list-3', 'list-1'])
  t.same(await ids(`assistant_id=${one}`), ['list-2', 'list-1'])
  t.same(await ids(`lead_id=${lead.id}`), ['list-2'])
  t.same(await ids('status=completed'), ['list-3', 'list-1'])
  t.same(await ids('date_from=2025-03-02'), ['list-2', 'list-3'])
  const { body } = await get('/user/calls?date_to=2025-03-01')
  t.same(Object.keys(body.data[0]), [
    'call_id', 'assistant_id', 'lead_id', 'status', 'direction', 'from', 'to', 'started_at', 'ended_at', 'duration'
  ])
})

t.test('whoever is not the owner sees nothing of it', async (t) => {
  const id = await create()
  const lead = await createLead('+15558880030')
  await complete('private', { assistant_id: id, lead_id: lead.id })
  await eventually(async () => (await get('/user/call/private')).status === 200)
  for (const path of [`/user/assistant/${id}`, `/user/assistant/${id}/history`, `/user/lead/${lead.id}`, '/user/call/private']) {
    const [own, other] = [await get(path), await get(path, '2')]
    t.equal(own.status, 200, path)
    t.equal(other.status, 404, path)
    t.same(Object.keys(other.body), ['message'])
    t.ok(other.headers.get('x-read-position'))
  }
  for (const path of ['/user/assistants', '/user/leads', '/user/calls', '/user/leads?campaign_id=1&phone_number=15558880030', `/user/calls?assistant_id=${id}`, `/user/calls?lead_id=${lead.id}`]) {
    t.ok((await get(path)).body.meta.total > 0, path)
    t.same((await get(path, '2')).body, {
      data: [], meta: { page: 1, per_page: path.includes('assistants') ? 10 : 15, total: 0, last_page: 1 }
    }, path)
  }
  for (const path of ['/user/campaigns', '/user/phone-numbers']) {
    const ids = async (user: string) => (await get(path, user)).body.data.map(({ id }: { id: number }) => id)
    const own = await ids('1')
    t.notOk((await ids('2')).some((id: number) => own.includes(id)), path)
    t.same(await ids('nobody'), [], path)
  }
})

t.test('an id that nothing can have is not found', async (t) => {
  for (const id of ['0', '-1', '1.5', 'x', '01', '9007199254740993', '99999999999999999999', '1e3', '%00', '%E2%82%AC', '1%20']) {
    for (const path of [`/user/assistant/${id}`, `/user/assistant/${id}/history`, `/user/lead/${id}`]) {
      t.equal((await get(path)).status, 404, path)
    }
  }
  for (const id of ['unknown', '%00', '%2F', 'x'.repeat(129), 'x'.repeat(2000), '%F0%9F%98%80']) {
    t.equal((await get(`/user/call/${id}`)).status, 404, id)
  }
})

t.test('a call is found by the longest id that an engine may choose', async (t) => {
  const callId = 'x'.repeat(128)
  t.equal((await complete(callId, { assistant_id: await create() })).status, 202)
  t.equal((await eventually(async () => (await get(`/user/call/${callId}`)).body.data ?? false)).call_id, callId)
})

t.test('every read needs a token of a user', async (t) => {
  const paths = [
    'assistants', 'assistant/1', 'assistant/1/history', 'leads', 'lead/1', 'calls', 'call/x', 'assistants/voices',
    'assistants/languages', 'assistants/models', 'campaigns', 'phone-numbers'
  ]
  const engine = `Bearer ${await service.token('engine', 'engine')}`
  for (const path of paths) {
    t.equal(
      (await call('GET', `/user/${path}`, undefined, { headers: { authorization: 'Bearer x' } })).status, 401, path
    )
    t.equal((await call('GET', `/user/${path}`, undefined, { headers: { authorization: engine } })).status, 403, path)
  }
})
