// What users see of their webhooks, what they can do about them, and their options and secrets: over HTTP and from end
// to end, at a real receiver.
import t, { type Test } from 'tap'
import { Webhook } from 'standardwebhooks'
import { isRefusal, valueOf } from '../../support/running-service.js'
import { eventually } from '../../support/eventually.js'
import { answers, callOf, receiver, stringsOf, type Received } from '../../support/receivers/receiver.js'
import { tried, webhookService } from '../../support/scenes/scenes.js'

const service = await webhookService(t)
const { call, get, create, complete, delivery, parts: { pool }, token, url } = service
const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

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
  t.match(await get('/user/webhook-deliveries', '2'), { meta: { total: 0 } })
  t.equal((await call('GET', `/user/webhook-deliveries/${delivered.id}`, undefined, { user: '2' })).status, 404)
  const redelivered = await call('POST', `/user/webhook-deliveries/${delivered.id}/redeliver`, undefined, { user: '2' })
  t.equal(redelivered.status, 404)
})

t.test('a rejected delivery is listed by what came of its newest attempt, shows its request, and is sent again', async (t) => {
  const hook = await receiver(t, answers(503))
  const assistant = await create(`${hook.url}/calls?token=a-secret`)
  const { id, request } = await complete(assistant, tried(1))
  const listed = async (query: string) => (await get(`/user/webhook-deliveries?assistant_id=${assistant}&${query}`)).data
  t.match(await listed('outcome=rejected&status_code=503'), [
    { id, status: 'scheduled', url: `${hook.url}/calls`, last_error: 'the receiver answered 503' }
  ])
  t.same(await listed('outcome=delivered'), [])
  const [sent] = hook.received
  t.match(request, { method: 'POST', url: `${hook.url}/calls`, body: sent?.body.toString() }, 'without its query')
  t.same(Object.keys(request.headers), [
    'content-type', 'user-agent', 'webhook-id', 'webhook-timestamp', 'webhook-attempt'
  ], 'and its signature')

  hook.answer = answers(201)
  const { status, body } = await call('POST', `/user/webhook-deliveries/${id}/redeliver`)
  t.equal(status, 202)
  const waits = { trigger: 'manual', n: 1, started_at: null, finished_at: null, outcome: null }
  t.match(body, { message: /sent again/, data: { id, status: 'scheduled', attempts: [{ trigger: 'schedule' }, waits] } })
  const after = await delivery(id, ({ status }) => status === 'delivered')
  t.match(after, {
    next_attempt_at: null,
    attempts: [{}, { trigger: 'manual', n: 1, started_at: at, outcome: 'delivered', status_code: 201 }]
  })
  t.match(await listed('outcome=delivered&status_code=201'), [{ id, url: `${hook.url}/calls`, last_error: null }])
  await pool.query('UPDATE ledger.webhook_deliveries SET body = NULL WHERE id = $1', [id])
  t.match((await get(`/user/webhook-deliveries/${id}`)).data.request, { body: null, url: after.request.url })
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

t.test('the newest fifty attempts are shown, oldest first, with the call and the delivery', async (t) => {
  const { id, call_id } = await complete(await create((await receiver(t)).url), ({ status }) => status === 'delivered')
  await pool.query(`
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
const setStatus = (id: string, status: string, reason: string) => pool.query(`
  WITH gone AS (DELETE FROM ledger.webhook_due WHERE delivery_id = $1)
  UPDATE ledger.webhook_deliveries SET status = $2, reason = $3 WHERE id = $1`, [id, status, reason])

t.test('a recovery delivers what was exhausted, cancelled, held or skipped, each once, and nothing else', async (t) => {
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
  t.same((await recover(assistant, { since: longAgo })).body.data, { count: 0 })
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
  const added = await pool.query<{ id: string }>(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, due_at)
    SELECT gen_random_uuid(), 'webhook-recovery', '1', 'accepted', json_build_object('assistant_id', $1::integer), now() + interval '1 day'
    FROM generate_series(1, 10) RETURNING id`, [assistant])
  isRefusal(t, await redeliver({ ids: [id] }), 429, 'by ids')
  isRefusal(t, await recover(assistant, { since: longAgo }), 429, 'of the assistant')
  await pool.query('DELETE FROM ledger.work WHERE id = ANY($1)', [added.rows.map((row) => row.id)])
  t.equal((await redeliver({ ids: [id] })).status, 202)
})

t.test('a wrong body is refused by field: ids, or the user\'s own assistant and a time, not both', async (t) => {
  const assistant = await create(null)
  const id = '8199a6da-f234-5f31-87e3-6f71755ff78d'
  const ofAssistant = (body: object) => recover(assistant, body)
  for (const [ask, body, ...fields] of [
    [ofAssistant, {}, 'since'], [ofAssistant, { since: longAgo, statuses: ['delivered'] }, 'statuses.0'],
    [ofAssistant, { since: '2026-01-02', until: '2026-01-01', statuses: [] }, 'statuses', 'until'],
    [redeliver, {}, 'ids'], [redeliver, { ids: ['x'] }, 'ids.0'], [redeliver, { ids: Array(1_001).fill(id) }, 'ids'],
    [redeliver, { ids: [id], assistant_id: assistant, since: longAgo }, 'assistant_id', 'since'],
    [redeliver, { assistant_id: assistant }, 'since'], [redeliver, { assistant_id: 999_999, since: longAgo }, 'assistant_id'],
    [(body: object) => redeliver(body, '2'), { assistant_id: assistant, since: longAgo }, 'assistant_id']
  ] as const) {
    const refused = await ask(body)
    isRefusal(t, refused, 422, JSON.stringify(body).slice(0, 60))
    t.same(Object.keys(refused.body.errors ?? {}).sort(), fields)
  }
  isRefusal(t, await recover(assistant, { since: longAgo }, '2'), 404, 'not theirs')
})

const pathOf = (assistant: number) => `/user/assistant/${assistant}/webhook-options`
const put = (assistant: number, body: object, user = '1') => call('PUT', pathOf(assistant), body, { user })
const none = { headers: {}, max_per_second: null }
const credential = 'Bearer 3c469e9d6c5875d3'

t.test('headers go with each attempt, and only their names are kept in the delivery log', async (t) => {
  const hook = await receiver(t)
  const assistant = await create(hook.url)
  t.same(await get(pathOf(assistant)), { data: none })
  const set = await put(assistant, { headers: { Authorization: credential, 'X-Team': 'north' }, max_per_second: 20 })
  const options = { headers: { Authorization: '…75d3', 'X-Team': '…' }, max_per_second: 20 }
  t.match(set, { status: 200, body: { message: 'Webhook options updated successfully', data: options } })
  t.same(await get(pathOf(assistant)), { data: options })
  const delivered = await complete(assistant, ({ status }) => status === 'delivered')
  t.match(hook.received[0]?.headers, { authorization: credential, 'x-team': 'north', 'content-type': 'application/json' })
  t.same(delivered.request.header_names, ['Authorization', 'X-Team'])
  t.notMatch(JSON.stringify(delivered), /3c469e9d|north/)
  const { rows } = await pool.query(`
    SELECT json_build_object('hooks', (SELECT json_agg(w) FROM ledger.webhooks w),
      'attempts', (SELECT json_agg(a) FROM ledger.webhook_attempts a))::text AS text`)
  t.notMatch(rows[0].text, /3c469e9d|north/)
  t.match((await put(assistant, { max_per_second: null })).body.data, { ...options, max_per_second: null }, 'what is absent stays')
  t.match((await put(assistant, { headers: { 'X-Other': 'something else' } })).body.data, { headers: { 'X-Other': '…else' } }, 'replaced whole')
  t.same((await put(assistant, { headers: {} })).body.data, none)
})

t.test('a wrong header is a 422 that names it, says what would be right, and shows no value', async (t) => {
  const assistant = await create('https://hooks.example.com')
  for (const [words, name] of [
    ['has this one already', 'content-anything'], ['has this one already', 'Webhook-Id'], ['webhook_url', 'HOST'],
    ['of the connection', 'transfer-encoding'], ['letters, digits and hyphens', 'ö']
  ] as const) {
    const refused = await put(assistant, { headers: { [name]: 'secret-value' } })
    isRefusal(t, refused, 422, name)
    t.match(refused.body.errors, { [`headers.${name}`]: [words] })
  }
  for (const value of ['', ' a', 'a\nb', 'ü', 'x'.repeat(1_001), null]) {
    const refused = await put(assistant, { headers: { 'X-Api-Key': value } })
    t.same(Object.keys(refused.body.errors), ['headers.X-Api-Key'], JSON.stringify(value).slice(0, 20))
  }
  t.same((await put(assistant, { headers: { 'X-Key': 'secret-1', 'x-key': 'secret-2' } })).body.errors,
    { 'headers.x-key': ['must be there once: names compare without case'] })
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`X-${n}`, 'x'.repeat(1_000)]))
  t.same(Object.keys((await put(assistant, { headers: many(11) })).body.errors), ['headers'])
  t.same(Object.keys((await put(assistant, { headers: { ['x'.repeat(101)]: 'a' } })).body.errors), ['headers'])
  const both = await put(assistant, { headers: { host: 'secret-value', 'X-Key': 'ü' }, max_per_second: 101 })
  t.same(Object.keys(both.body.errors).sort(), ['headers.X-Key', 'headers.host', 'max_per_second'], 'all at once')
  t.notMatch(JSON.stringify(both.body), /secret/)
  t.same(await get(pathOf(assistant)), { data: none })
  t.equal((await put(assistant, { headers: many(10), max_per_second: 100 })).status, 200)
})

t.test('options and secrets are of the owner of the assistant alone, also of a webhook that has no URL yet', async (t) => {
  const assistant = await create(null)
  t.equal((await put(assistant, { max_per_second: 5 })).status, 200)
  isRefusal(t, await put(assistant, { max_per_second: 6 }, '2'), 404, 'PUT of another user')
  isRefusal(t, await call('GET', pathOf(assistant), undefined, { user: '2' }), 404, 'GET of another user')
  for (const method of ['GET', 'POST', 'DELETE']) {
    isRefusal(t, await call(method, `/user/assistant/${assistant}/webhook-secret`, undefined, { user: '2' }), 404, method)
  }
  t.same(await get(pathOf(assistant)), { data: { headers: {}, max_per_second: 5 } })
})

t.test('one of two changes of the same options is refused', async (t) => {
  const assistant = await create(null)
  const { headers } = await call('GET', pathOf(assistant))
  const change = (max_per_second: number) =>
    call('PUT', pathOf(assistant), { max_per_second }, { headers: { 'if-match': headers.get('etag') ?? '' } })
  const both = await Promise.all([change(5), change(6)])
  t.same(both.map(({ status }) => status).sort(), [200, 412])
  const [done] = both.filter(({ status }) => status === 200)
  const read = await call('GET', pathOf(assistant))
  t.same(read.body.data, done?.body.data)
  t.equal(read.headers.get('etag'), done?.headers.get('etag'))
  t.not(read.headers.get('etag'), headers.get('etag'))
})

const verifies = (secret: string, { headers, body }: Received) => {
  try {
    return new Webhook(secret).verify(body, stringsOf(headers)) !== undefined
  } catch {
    return false
  }
}

t.test('after a rotation both secrets verify for 24 hours, or as long as overlap_hours says; then the new one alone', async (t) => {
  const { sent } = await sending(t, '2')
  const rotate = (body?: object) => call('POST', '/user/webhook-secret/rotate', body, { user: '2' })
  const inHours = ({ previous }: { previous: { expires_at: string } }) =>
    Math.round((Date.parse(previous.expires_at) - Date.now()) / 3_600_000)
  const first = (await get('/user/webhook-secret', '2')).data
  t.equal(first.previous, null)
  const second = (await rotate()).body.data
  t.same((await get('/user/webhook-secret', '2')).data, second)
  t.match(second, { secret: /^whsec_/, previous: { secret: first.secret, expires_at: at } })
  t.equal(inHours(second), 24)
  const third = (await rotate({ overlap_hours: 168 })).body.data
  t.equal(third.previous.secret, second.secret)
  t.equal(inHours(third), 168)
  isRefusal(t, await rotate(), 409, 'a third within the day')
  const during = await sent()
  for (const { secret } of [first, second, third]) t.ok(verifies(secret, during))
  const ended = await rotate({ overlap_hours: 0 })
  t.match(ended, { status: 200, body: { data: { secret: /^whsec_/, previous: null } } })
  const after = await sent()
  const all = [first, second, third, ended.body.data]
  t.same(all.map(({ secret }) => verifies(secret, after)), [false, false, false, true])
  t.same(Object.keys((await rotate({ overlap_hours: 169 })).body.errors), ['overlap_hours'])
  t.equal((await get('/user/webhook-secret', '1')).data.previous, null, 'another user has an own secret')
})

/** A user's assistant with a receiver, and what its next test webhook is. */
async function sending (t: Test, user: string) {
  const hook = await receiver(t)
  const id = await create(hook.url, user)
  const path = `/user/assistant/${id}/webhook-secret`
  const sent = async () => {
    const before = hook.received.length
    await call('POST', `/user/assistant/${id}/webhook-test`, undefined, { user })
    return await eventually(() => hook.received[before] ?? false)
  }
  return { path, sent, own: async () => (await get(path, user)).data }
}

t.test('an assistant may have a secret of its own, with the user\'s beside it at first', async (t) => {
  const { path, own, sent } = await sending(t, '5')
  const other = await sending(t, '5')
  const users = (await get('/user/webhook-secret', '5')).data
  t.same(await own(), { ...users, own: false })
  const first = (await call('POST', path, undefined, { user: '5' })).body.data
  t.match(first, { secret: /^whsec_/, previous: { secret: users.secret, expires_at: at }, own: true })
  t.not(first.secret, users.secret)
  t.same(await own(), first)
  const signs = async (from: typeof sent, ...secrets: string[]) => {
    const webhook = await from()
    return secrets.map((secret) => verifies(secret, webhook))
  }
  t.same(await signs(sent, first.secret, users.secret), [true, true])
  t.same(await signs(other.sent, first.secret, users.secret), [false, true], 'another assistant of the user')
  const soon = (await call('POST', path, undefined, { user: '5' })).body.data
  t.equal(soon.previous.secret, first.secret, 'the own one, though that of the user signs beside it still')
  t.same(await signs(sent, soon.secret, first.secret, users.secret), [true, true, true])
  const second = (await call('POST', path, { overlap_hours: 0 }, { user: '5' })).body.data
  t.match(second, { previous: null, own: true })
  t.same(await signs(sent, second.secret, first.secret, users.secret), [true, false, false])
})

t.test('without its own secret an assistant goes back to the user\'s, and its own signs on for a day', async (t) => {
  const { path, own, sent } = await sending(t, '6')
  const drop = () => call('DELETE', path, undefined, { user: '6' })
  const users = (await get('/user/webhook-secret', '6')).data
  t.same((await drop()).body.data, { ...users, own: false }, 'nothing to drop')
  const { secret } = (await call('POST', path, undefined, { user: '6' })).body.data
  const back = await drop()
  t.equal(back.status, 200)
  t.match(back.body.data, { secret: users.secret, previous: { secret, expires_at: at }, own: false })
  t.same(await own(), back.body.data)
  const webhook = await sent()
  t.same([users.secret, secret].map((one) => verifies(one, webhook)), [true, true])
  const anew = (await call('POST', path, undefined, { user: '6' })).body.data
  t.equal(anew.previous.secret, users.secret, 'that signed until now, and not the own one before it')
})

t.test('rotations at the same time are one after the other', async (t) => {
  const answers = await Promise.all(Array.from({ length: 6 }, () =>
    call('POST', '/user/webhook-secret/rotate', undefined, { user: '3' })))
  t.same(answers.map(({ status }) => status).sort(), [200, 200, 409, 409, 409, 409])
})

t.test('attempts are counted by trigger and outcome, and what was delivered has its latency', async (t) => {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${await token('op', 'ops')}` } })
  const text = await answer.text()
  for (const labels of ['trigger="schedule",outcome="delivered"', 'trigger="schedule",outcome="rejected"', 'trigger="test",outcome="delivered"']) {
    t.ok((valueOf(text, `ringledger_webhook_attempts_total{${labels}}`) ?? 0) > 0, labels)
  }
  t.ok((valueOf(text, 'ringledger_webhook_delivery_latency_seconds_sum') ?? 0) > 0)
})
