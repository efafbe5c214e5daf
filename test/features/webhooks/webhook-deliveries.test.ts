// What users see of their webhooks, and what they can do about them, over HTTP and from end to end.
import t from 'tap'
import { isRefusal, valueOf } from '../../support/running-service.js'
import { eventually } from '../../support/eventually.js'
import { answers, callOf, receiver } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

const service = await webhookService(t)
const { call, get, create, complete, delivery, parts, token, url } = service
const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

t.test('attempts are counted by trigger and outcome, and what was delivered has its latency', async (t) => {
  const authorization = `Bearer ${await token('op', 'ops')}`
  const measured = async (name: string) =>
    valueOf(await (await fetch(`${url}/metrics`, { headers: { authorization } })).text(), `ringledger_webhook_${name}`)
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  await complete(assistant, ({ status }) => status === 'delivered')
  hook.answer = answers(500)
  await complete(assistant, ({ attempts }) => attempts.some(({ outcome }) => outcome === 'rejected'))
  await call('POST', `/user/assistant/${assistant}/webhook-test`)
  await eventually(async () => await measured('attempts_total{trigger="test",outcome="rejected"}') === 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="delivered"}'), 1)
  t.equal(await measured('attempts_total{trigger="schedule",outcome="rejected"}'), 1)
  t.equal(await measured('delivery_latency_seconds_count'), 1, 'of the schedule alone')
  t.ok((await measured('delivery_latency_seconds_sum') ?? 0) > 0)
})

t.test('deliveries are listed newest first, by assistant, call and status, and only to their owner', async (t) => {
  const [hook, off] = [await create((await receiver(t)).url), await create(null)]
  const delivered = await complete(hook, ({ status }) => status === 'delivered')
  const skipped = await complete(off, ({ status }) => status === 'skipped')
  const { attempts: _, request: __, ...summary } = delivered
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
})

t.test('a redelivery is accepted, shown as waiting, and made', async (t) => {
  const hook = await receiver(t, answers(500))
  const { id } = await complete(await create(hook.url), tried(1))
  hook.answer = answers(200)
  const { status, body } = await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  t.equal(status, 202)
  const waits = { trigger: 'manual', n: 1, started_at: null, finished_at: null, outcome: null }
  t.match(body, { message: /sent again/, data: { id, status: 'scheduled', attempts: [{ trigger: 'schedule' }, waits] } })
  const after = await delivery(id, ({ status }) => status === 'delivered')
  t.match(after, {
    next_attempt_at: null,
    attempts: [{}, { trigger: 'manual', n: 1, started_at: at, outcome: 'delivered', status_code: 200 }]
  })
})

t.test('what cannot be sent is a 409 that says why', async (t) => {
  const off = await create(null)
  const { id } = await complete(off, ({ status }) => status === 'skipped')
  for (const [path, why] of [
    [`webhook-deliveries/${id}/redeliver`, 'Nothing can be sent: it was never to be sent: webhook_off.'],
    [`assistant/${off}/webhook-test`, 'Nothing can be sent: the assistant has no webhook_url.'],
    [`assistant/${off}/webhook-resume`, 'The webhook is switched off: set is_webhook_active to true instead.']
  ] as const) {
    const answer = await call('POST', `/user/${path}`)
    isRefusal(t, answer, 409, path)
    t.equal(answer.body.message, why)
  }
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
  await parts.pool.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = $1', [id])
  t.match((await get(`/user/webhook-deliveries/${id}`)).data.request, { body: null, url: again.request.url })
  const skipped = await complete(await create(null), ({ status }) => status === 'skipped')
  t.equal(skipped.request, null)
})

t.test('of very many attempts the newest fifty are shown, oldest first, with the call and by themselves', async (t) => {
  const { id, call_id } = await complete(await create((await receiver(t)).url), ({ status }) => status === 'delivered')
  await parts.pool.query(`
    INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, started_at, finished_at, outcome)
    SELECT delivery_id, 'manual', many, now() + many * interval '1 s', now(), 'gone'
    FROM ledger.webhook_attempts, generate_series(1, 80) many WHERE delivery_id = $1`, [id])
  const [ofCall] = (await get(`/user/call/${call_id}`)).data.deliveries
  const newest = Array.from({ length: 50 }, (_, index) => 31 + index)
  for (const { attempts } of [ofCall, (await get(`/user/webhook-deliveries/${id}`)).data]) {
    t.strictSame(attempts.map(({ n }: { n: number }) => n), newest)
  }
})

const longAgo = '2020-01-01'
const recover = (id: number, body?: object, user = '1', key?: string) =>
  call('POST', `/user/assistant/${id}/webhook-recover`, body, {
    user, ...(key !== undefined && { headers: { 'idempotency-key': key } })
  })
const setStatus = (id: string, status: string, reason: string) => parts.pool.query(`
  WITH gone AS (DELETE FROM ledger.webhook_due WHERE delivery_id = $1)
  UPDATE ledger.webhook_deliveries SET status = $2, reason = $3 WHERE id = $1`, [id, status, reason])

t.test('what was exhausted, cancelled, held or skipped is delivered, each once, and nothing else', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  const delivered = () => complete(assistant, ({ status }) => status === 'delivered')
  const kept = await delivered()
  const [exhausted, cancelled, held] = [await delivered(), await delivered(), await delivered()]
  await setStatus(exhausted.id, 'exhausted', 'attempts_used_up')
  await setStatus(cancelled.id, 'cancelled', 'held_too_long')
  await setStatus(held.id, 'held', 'crashed')
  await call('PUT', `/user/assistant/${assistant}`, { is_webhook_active: false })
  const skipped = await complete(assistant, ({ status }) => status === 'skipped')
  t.equal(skipped.reason, 'webhook_off')
  isRefusal(t, await recover(assistant, { since: longAgo }), 409, 'while it is off')
  await call('PUT', `/user/assistant/${assistant}`, { is_webhook_active: true })
  hook.received.length = 0
  const first = await recover(assistant, { since: longAgo }, '1', 'once')
  t.match(first, { status: 202, body: { message: /sent again/, data: { count: Number } } })
  const wanted = [exhausted, cancelled, skipped].map(({ call_id }) => call_id)
  await eventually(() => wanted.every((one) => hook.received.some((received) => callOf(received) === one)))
  t.same((await recover(assistant, { since: longAgo }, '1', 'once')).body, first.body)
  const deliveredOnes = `/user/webhook-deliveries?assistant_id=${assistant}&status=delivered`
  await eventually(async () => (await get(deliveredOnes)).meta.total === 5)
  const calls = hook.received.map(callOf)
  t.equal(new Set(calls).size, calls.length, 'each once')
  t.notOk(calls.includes(kept.call_id), 'what was delivered is not sent again')
  const built = JSON.parse(String(hook.received.find((one) => callOf(one) === skipped.call_id)?.body))
  const usual = JSON.parse(kept.request.body)
  t.same(Object.keys(built.data), Object.keys(usual.data), 'a body from the log is as any other')
  t.same((await recover(assistant, { since: longAgo })).body.data, { count: 0 })
})

t.test('a wrong body is refused by field, and another user\'s assistant is not found', async (t) => {
  const assistant = await create((await receiver(t)).url)
  for (const [body, ...fields] of [
    [{}, 'since'], [{ since: 'yesterday' }, 'since'], [{ since: null }, 'since'],
    [{ since: longAgo, statuses: ['delivered'] }, 'statuses.0'], [{ since: longAgo, statuses: 'held' }, 'statuses'],
    [{ since: '2026-01-02', until: '2026-01-01', statuses: [] }, 'statuses', 'until']
  ] as const) {
    const answer = await recover(assistant, body)
    isRefusal(t, answer, 422, JSON.stringify(body))
    t.same(Object.keys(answer.body.errors).sort(), fields)
  }
  const lastMoment = { since: '2026-01-01T23:59:59.999Z', until: '2026-01-01' }
  t.equal((await recover(assistant, lastMoment)).status, 202, 'a day ends after its last millisecond')
  isRefusal(t, await recover(assistant, { since: longAgo }, '2'), 404, 'not theirs')
})

t.test('more than 100,000 at once are refused', async (t) => {
  const assistant = await create((await receiver(t)).url)
  for (const [from, to] of [[0, 50_000], [50_001, 100_000]]) { // a statement has five seconds
    await parts.pool.query(`
      INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, status, reason)
      SELECT gen_random_uuid(), 'many-' || n, 'call.completed', '1', $1, 'skipped', 'webhook_off'
      FROM generate_series($2::int, $3::int) n`, [assistant, from, to])
  }
  const answer = await recover(assistant, { since: longAgo })
  isRefusal(t, answer, 422, 'too many')
  t.same(Object.keys(answer.body.errors), ['since'])
})

const redeliver = (body: object, user = '1') => call('POST', '/user/webhook-deliveries/redeliver', body, { user })

t.test('many are sent again by their ids, whatever their assistants, and nothing that is not the user\'s', async (t) => {
  const hooks = [await receiver(t), await receiver(t)] as const
  const assistants = [await create(hooks[0].url), await create(hooks[1].url)] as const
  const delivered = (assistant: number, user?: string) => complete(assistant, ({ status }) => status === 'delivered', user)
  const [kept, first] = [await delivered(assistants[0]), await delivered(assistants[0])]
  const second = await delivered(assistants[1])
  const unasked = await delivered(assistants[1])
  const others = await delivered(await create(hooks[1].url, '2'), '2')
  for (const { id } of [first, second, unasked, others]) await setStatus(id, 'exhausted', 'attempts_used_up')
  for (const hook of hooks) hook.received.length = 0
  const ids = [kept, first, second, others].map(({ id }) => id)
  t.match(await redeliver({ ids }), { status: 202, body: { message: /sent again/, data: { count: 2 } } })
  for (const [hook, { id }] of [[hooks[0], first], [hooks[1], second]] as const) {
    await eventually(() => hook.received.length === 1)
    t.equal(hook.received[0]?.headers['webhook-id'], id)
    await eventually(async () => (await get(`/user/webhook-deliveries/${id}`)).data.status === 'delivered')
  }
  t.match((await redeliver({ ids })).body.data, { count: 0 }, 'nothing is left of them')
  t.equal((await get(`/user/webhook-deliveries/${unasked.id}`)).data.status, 'exhausted')
  t.match((await redeliver({ assistant_id: assistants[1], since: longAgo })).body.data, { count: 1 })
  await eventually(async () => (await get(`/user/webhook-deliveries/${unasked.id}`)).data.status === 'delivered')
})

t.test('an assistant with ten recoveries at once gets no other one, by ids neither', async (t) => {
  const assistant = await create((await receiver(t)).url)
  const { id } = await complete(assistant, ({ status }) => status === 'delivered')
  await setStatus(id, 'exhausted', 'attempts_used_up')
  const added = await parts.pool.query<{ id: string }>(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, due_at)
    SELECT gen_random_uuid(), 'webhook-recovery', '1', 'accepted', json_build_object('assistant_id', $1::integer), now() + interval '1 day'
    FROM generate_series(1, 10) RETURNING id`, [assistant])
  isRefusal(t, await redeliver({ ids: [id] }), 429, 'by ids')
  isRefusal(t, await recover(assistant, { since: longAgo }), 429, 'of the assistant')
  await parts.pool.query('DELETE FROM ledger.work WHERE id = ANY($1)', [added.rows.map((row) => row.id)])
  t.equal((await redeliver({ ids: [id] })).status, 202)
})

t.test('what is to be sent again is said in one of two ways', async (t) => {
  const assistant = await create((await receiver(t)).url)
  const id = '8199a6da-f234-5f31-87e3-6f71755ff78d'
  for (const [body, ...fields] of [
    [{}, 'ids'],
    [{ ids: [] }, 'ids'],
    [{ ids: ['x'] }, 'ids.0'],
    [{ ids: Array(1_001).fill(id) }, 'ids'],
    [{ ids: [id], assistant_id: assistant, since: longAgo }, 'assistant_id', 'since'],
    [{ assistant_id: assistant }, 'since'],
    [{ since: longAgo }, 'assistant_id'],
    [{ assistant_id: assistant, since: '2020-01-02', until: longAgo, statuses: ['delivered'] }, 'statuses.0', 'until'],
    [{ assistant_id: 999_999, since: longAgo }, 'assistant_id']
  ] as const) {
    const refused = await redeliver(body)
    isRefusal(t, refused, 422, JSON.stringify(body).slice(0, 60))
    t.same(Object.keys(refused.body.errors ?? {}).sort(), fields)
  }
  t.same(Object.keys((await redeliver({ assistant_id: assistant, since: longAgo }, '2')).body.errors), ['assistant_id'])
})
