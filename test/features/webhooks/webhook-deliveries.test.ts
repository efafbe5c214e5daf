// What users see of their webhooks, and what they can do about them, over HTTP and from end to end.
import t from 'tap'
import { isRefusal } from '../../support/running-service.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

const service = await webhookService(t)
const { call, get, create, complete, delivery } = service
const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('deliveries are listed newest first, by assistant, call and status, and only to their owner', async (t) => {
  const [hook, off] = [await create((await receiver(t)).url), await create(null)]
  const delivered = await complete(hook, ({ status }) => status === 'delivered')
  const skipped = await complete(off, ({ status }) => status === 'skipped')
  const { attempts, request, ...summary } = delivered
  t.same(Object.keys(delivered), [
    'id', 'call_id', 'assistant_id', 'type', 'status', 'reason', 'attempt_count', 'next_attempt_at', 'created_at',
    'url', 'last_error', 'attempts', 'request'
  ])
  t.same(Object.keys(request), ['method', 'url', 'headers', 'header_names', 'body'])
  t.same(Object.keys(attempts[0]), [
    'n', 'trigger', 'started_at', 'finished_at', 'outcome', 'status_code', 'duration_ms', 'error', 'response_excerpt'
  ])
  const ids = async (query: string) =>
    (await get(`/user/webhook-deliveries?${query}`)).data.map(({ id }: { id: string }) => id)
  t.same((await ids('')).slice(0, 2), [skipped.id, delivered.id])
  t.same(await get(`/user/webhook-deliveries?assistant_id=${hook}`), {
    data: [summary], meta: { page: 1, per_page: 15, total: 1, last_page: 1, next: null }
  })
  t.same(await ids(`call_id=${skipped.call_id}`), [skipped.id])
  t.same(await ids(`status=skipped&assistant_id=${off}`), [skipped.id])
  t.same(await ids(`status=delivered&assistant_id=${off}`), [])
  t.match(await get('/user/webhook-deliveries', '2'), { meta: { total: 0 } })
  t.equal((await call('GET', `/user/webhook-deliveries/${delivered.id}`, undefined, { user: '2' })).status, 404)
  const redelivered = await call('POST', `/user/webhook-deliveries/${delivered.id}/redeliver`, undefined, { user: '2' })
  t.equal(redelivered.status, 404)
})

t.test('deliveries are listed by what came of their newest attempt, with its URL and its error', async (t) => {
  const hook = await receiver(t, answers(503))
  const assistant = await create(`${hook.url}/calls?token=a-secret`)
  const { id } = await complete(assistant, tried(1))
  const listed = async (query: string) => (await get(`/user/webhook-deliveries?assistant_id=${assistant}&${query}`)).data
  t.match(await listed('outcome=rejected&status_code=503'), [
    { id, status: 'scheduled', url: `${hook.url}/calls`, last_error: 'the receiver answered 503' }
  ])
  t.same(await listed('outcome=delivered'), [])
  t.same(await listed('status_code=500'), [])
  hook.answer = answers(201)
  await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  await delivery(id, ({ status }) => status === 'delivered')
  t.match(await listed('outcome=delivered&status_code=201'), [{ id, url: `${hook.url}/calls`, last_error: null }])
  const skipped = await complete(await create(null), ({ status }) => status === 'skipped')
  t.match(skipped, { url: null, last_error: null })
  for (const query of ['outcome=lost', 'status_code=99', 'status_code=x']) {
    const refused = await call('GET', `/user/webhook-deliveries?${query}`)
    isRefusal(t, refused, 422, query)
    t.same(Object.keys(refused.body.errors), query.split('=').slice(0, 1))
  }
})

t.test('a redelivery is accepted, shown as waiting, and made within moments', async (t) => {
  const hook = await receiver(t, answers(500))
  const { id } = await complete(await create(hook.url), tried(1))
  hook.answer = answers(200)
  const from = Date.now()
  const { status, body } = await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  t.equal(status, 202)
  t.match(body, {
    message: /sent again/,
    data: {
      id,
      status: 'scheduled',
      attempts: [
        { trigger: 'schedule' }, { trigger: 'manual', n: 1, started_at: null, finished_at: null, outcome: null }
      ]
    }
  })
  const after = await delivery(id, ({ status }) => status === 'delivered')
  t.match(after, {
    next_attempt_at: null,
    attempts: [{}, { trigger: 'manual', n: 1, started_at: at, outcome: 'delivered', status_code: 200 }]
  })
  t.ok(Date.now() - from < 9_000, 'told by a notification, not found by the reconciler')
})

t.test('what cannot be sent is a 409 that says why', async (t) => {
  const off = await create(null)
  const { id } = await complete(off, ({ status }) => status === 'skipped')
  const refused = async (path: string, why: string) => {
    const answer = await call('POST', path)
    isRefusal(t, answer, 409, path)
    t.equal(answer.body.message, why)
  }
  await refused(
    `/user/webhook-deliveries/${id}/redeliver`, 'Nothing can be sent: it was never to be sent: webhook_off.'
  )
  await refused(`/user/assistant/${off}/webhook-test`, 'Nothing can be sent: the assistant has no webhook_url.')
  await refused(
    `/user/assistant/${off}/webhook-resume`, 'The webhook is switched off: set is_webhook_active to true instead.'
  )
})

t.test('a test goes to the URL that the assistant has now, with a sample for each field of its schema', async (t) => {
  const [former, present] = [await receiver(t), await receiver(t)]
  const assistant = await create(former.url)
  await call('PUT', `/user/assistant/${assistant}`, { webhook_url: present.url })
  t.equal((await call('POST', `/user/assistant/${assistant}/webhook-test`)).status, 202)
  await eventually(() => present.received.length === 1)
  t.equal(former.received.length, 0)
  t.same(JSON.parse(String(present.received[0]?.body)).data.extracted_variables, { status: true, summary: 'a text' })
})

t.test('a suspended webhook resumes by a successful test, by resuming, and by setting it active again', async (t) => {
  const hook = await receiver(t, answers(410))
  const assistant = await create(hook.url)
  const state = async () => (await get(`/user/assistant/${assistant}`)).data.webhook.state
  const suspended = async () => {
    hook.answer = answers(410)
    await complete(assistant, ({ status }) => status === 'cancelled')
    await eventually(async () => await state() === 'suspended')
    hook.answer = answers(200)
    return await complete(assistant, ({ status }) => status === 'held')
  }
  const ways = {
    test: () => call('POST', `/user/assistant/${assistant}/webhook-test`),
    resume: () => call('POST', `/user/assistant/${assistant}/webhook-resume`),
    again: () => call('PUT', `/user/assistant/${assistant}`, { is_webhook_active: true })
  }
  for (const [name, release] of Object.entries(ways)) {
    const { id } = await suspended()
    const { status, body } = await release()
    t.ok(status < 300, name)
    if (name === 'resume') t.same(body.data, { resumed: 1 })
    t.ok(await delivery(id, ({ status }) => status === 'delivered'), name)
    t.equal(await state(), 'on')
  }
  t.same((await ways.resume()).body.data, { resumed: 0 }, 'resuming what is not suspended does nothing')
})

t.test('deliveries are listed by the time when they were made', async (t) => {
  const assistant = await create(null)
  const { id, created_at: made } = await complete(assistant, ({ status }) => status === 'skipped')
  const ids = async (query: string) =>
    (await get(`/user/webhook-deliveries?assistant_id=${assistant}&${query}`)).data.map(({ id }: { id: string }) => id)
  const shifted = (ms: number) => encodeURIComponent(new Date(Date.parse(made) + ms).toISOString())
  t.same(await ids(`date_from=${shifted(0)}&date_to=${shifted(1)}`), [id])
  t.same(await ids(`date_from=${shifted(1)}`), [])
  t.same(await ids(`date_to=${shifted(-1)}`), [])
  t.same(await ids(`date_from=${made.slice(0, 10)}&date_to=${made.slice(0, 10)}`), [id])
  const refused = await call('GET', '/user/webhook-deliveries?date_from=2026-02-30')
  isRefusal(t, refused, 422, 'no day')
  t.same(Object.keys(refused.body.errors), ['date_from'])
})

t.test('a delivery shows the request of its newest attempt, without query and signature', async (t) => {
  const hook = await receiver(t, answers(500))
  const secret = '?token=a-secret'
  const { id, request } = await complete(await create(`${hook.url}/calls/1${secret}`), tried(1))
  const [sent] = hook.received
  t.match(request, { method: 'POST', url: `${hook.url}/calls/1`, body: sent?.body.toString() })
  t.same(request.headers, Object.fromEntries(Object.keys(request.headers).map((name) => [name, sent?.headers[name]])))
  t.same(Object.keys(request.headers), [
    'content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-attempt'
  ])
  hook.answer = answers(200)
  await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  const again = await delivery(id, ({ status }) => status === 'delivered')
  t.equal(again.request.headers['webhook-timestamp'], hook.received[1]?.headers['webhook-timestamp'])
  await service.parts.pool.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = $1', [id])
  t.match((await get(`/user/webhook-deliveries/${id}`)).data.request, { body: null, url: again.request.url })
  const skipped = await complete(await create(null), ({ status }) => status === 'skipped')
  t.equal(skipped.request, null)
})

t.test('of very many attempts the newest fifty are shown, oldest first, with the call and by themselves', async (t) => {
  const { id, call_id } = await complete(await create((await receiver(t)).url), ({ status }) => status === 'delivered')
  await service.parts.pool.query(`
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, started_at, finished_at, outcome)
    SELECT delivery_id, 'manual', many, now() + many * interval '1 s', now(), 'gone'
    FROM ledger.webhook_attempts, generate_series(1, 80) many WHERE delivery_id = $1`, [id])
  const [ofCall] = (await get(`/user/call/${call_id}`)).data.deliveries
  const newest = Array.from({ length: 50 }, (_, index) => 31 + index)
  for (const { attempts } of [ofCall, (await get(`/user/webhook-deliveries/${id}`)).data]) {
    t.strictSame(attempts.map(({ n }: { n: number }) => n), newest)
  }
})
