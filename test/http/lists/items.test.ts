// Assistants and leads by their ids, and a 404 for anything else.
import t from 'tap'
import { defaultSettings } from '../../../src/features/assistants/events.js'
import { eventually } from '../../support/eventually.js'
import { readScene, timestamp as at } from '../../support/scenes/scenes.js'
import { newAssistant } from '../../support/service.js'

const { call, get, create, createLead, complete, hook } = await readScene(t)

t.test('an assistant is its summary, settings, revision, times and webhook, with its revision as ETag', async (t) => {
  const given = {
    variables: { zeta: null, a: [1.5, { b: null }] }, end_call_tool: { description: 'When done' }, llm_temperature: 0.25
  }
  const id = await create(given)
  const { status, headers, body } = await get(`/user/assistant/${id}`)
  t.equal(status, 200)
  t.equal(headers.get('etag'), '"0"')
  const { created_at, updated_at, ...rest } = body.data
  t.equal(JSON.stringify(rest.settings.variables), JSON.stringify(given.variables), 'names keep their order')
  t.same(rest, {
    ...{ id, name: 'Front desk', status: 'active', type: 'inbound', mode: 'pipeline' },
    settings: { ...defaultSettings(), ...newAssistant, ...given },
    revision: 0,
    webhook: { state: 'off', reason: null, since: null, until: null }
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
  t.same(before.body.data.webhook, { state: 'on', reason: null, since: null, until: null })
})

t.test('who has what is shown is told so, and gets it as soon as it changes', async (t) => {
  const [assistant, lead] = [await create(), await createLead('+15559990001')]
  const campaign = (await call('POST', '/user/campaign', { name: 'Autumn' })).body.data
  for (const [path, change] of [
    [`/user/assistant/${assistant}`, { speech_speed: 1.1 }], [`/user/campaign/${campaign.id}`, { name: 'Winter' }],
    [`/user/lead/${lead.id}`, { variables: { plan: 'yearly' } }]
  ] as const) {
    const etag = (await get(path)).headers.get('etag') ?? ''
    const knows = (known: string, method = 'GET') => call(method, path, undefined, { headers: { 'if-none-match': known } })
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, body, headers } = await knows(known)
      t.strictSame([status, body, headers.get('etag')], [304, {}, etag], `${path} ${known}`)
      t.match(headers.get('x-read-position'), /^\d+$/)
      t.equal(headers.get('content-type'), null)
      const head = await knows(known, 'HEAD')
      t.strictSame([head.status, head.headers.get('content-length')], [304, null])
    }
    t.equal((await knows('"other"')).status, 200)
    await call('PUT', path, change)
    t.equal((await knows(etag)).status, 200)
  }
  t.equal((await call('GET', '/user/lead/999999', undefined, { headers: { 'if-none-match': '*' } })).status, 404)
})

t.test('the history has every change, newest first, with the former value', async (t) => {
  const id = await create({ speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk', speech_speed: 1.1 })
  await call('PUT', `/user/assistant/${id}`, { assistant_name: 'Night desk' })
  await call('PUT', `/user/assistant/${id}`, { variables: { a: 1 }, phone_number_id: 1 })
  const { status, body } = await get(`/user/assistant/${id}/history`)
  t.equal(status, 200)
  t.same(body.meta, { page: 1, per_page: 15, total: 3, last_page: 1, next: null })
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
  t.match(page, { data: [second], meta: { page: 2, per_page: 1, total: 3, last_page: 3, next: String } })
})

t.test('another user sees nothing of it', async (t) => {
  const id = await create()
  const lead = await createLead('+15558880030')
  await complete('private', { assistant_id: id, lead_id: lead.id })
  await eventually(async () => (await get('/user/call/private')).status === 200)
  const things = [`/user/assistant/${id}`, `/user/assistant/${id}/history`, `/user/lead/${lead.id}`, '/user/call/private']
  for (const path of things) {
    const [own, other] = [await get(path), await get(path, '2')]
    t.equal(own.status, 200, path)
    t.equal(other.status, 404, path)
    t.same(Object.keys(other.body), ['message'])
    t.ok(other.headers.get('x-read-position'))
  }
  const lists = [
    '/user/assistants', '/user/leads', '/user/calls', '/user/leads?campaign_id=1&phone_number=15558880030',
    `/user/calls?assistant_id=${id}`, `/user/calls?lead_id=${lead.id}`
  ]
  for (const path of lists) {
    t.ok((await get(path)).body.meta.total > 0, path)
    t.same((await get(path, '2')).body, {
      data: [], meta: { page: 1, per_page: path.includes('assistants') ? 10 : 15, total: 0, last_page: 1, next: null }
    }, path)
  }
  for (const path of ['/user/campaigns', '/user/phone-numbers']) {
    const ids = async (user: string) => (await get(path, user)).body.data.map(({ id }: { id: number }) => id)
    const own = await ids('1')
    t.notOk((await ids('2')).some((id: number) => own.includes(id)), path)
    t.same(await ids('nobody'), [], path)
  }
})
