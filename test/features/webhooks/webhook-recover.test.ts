// What users are told of endpoints, and POST /user/assistant/{id}/webhook-recover, which sends again what failed.
import t from 'tap'
import { isRefusal } from '../../support/running-service.js'
import { webhookService } from '../../support/scenes/scenes.js'
import { eventually } from '../../support/eventually.js'
import { answers, receiver, callOf } from '../../support/receivers/receiver.js'

const { call, get, create, complete, parts } = await webhookService(t)

t.test('an endpoint that was suspended is told to its user, and to nobody else', async (t) => {
  const assistant = await create((await receiver(t, answers(410))).url)
  const { id } = await complete(assistant, ({ status }) => status === 'cancelled')
  const { data, meta } = await eventually(async () => {
    const told = await get('/user/webhook-notices') // after the outcome of the attempt is written
    return told.data.length > 0 && told
  })
  t.match(data, [{ id: Number, type: 'endpoint_suspended', assistant_id: assistant, delivery_id: id, reason: 'gone' }])
  t.same(Object.keys(data[0]), ['id', 'type', 'assistant_id', 'delivery_id', 'reason', 'at'])
  t.same(meta, { page: 1, per_page: 15, total: 1, last_page: 1, next: null })
  t.match(await get('/user/webhook-notices', '2'), { data: [], meta: { total: 0 } })
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
  const wrong: Array<[object, string]> = [
    [{}, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: null }, 'since'],
    [{ since: '2026-01-02', until: '2026-01-01' }, 'until'],
    [{ since: longAgo, statuses: [] }, 'statuses'],
    [{ since: longAgo, statuses: ['delivered'] }, 'statuses.0'],
    [{ since: longAgo, statuses: 'held' }, 'statuses']
  ]
  for (const [body, field] of wrong) {
    const answer = await recover(assistant, body)
    isRefusal(t, answer, 422, JSON.stringify(body))
    t.same(Object.keys(answer.body.errors), [field])
  }
  const both = await recover(assistant, { since: '2026-01-02', until: '2026-01-01', statuses: [] })
  t.same(Object.keys(both.body.errors).sort(), ['statuses', 'until'], 'all at once')
  const noStatus = await recover(assistant, { since: longAgo, statuses: [] })
  t.same(noStatus.body.errors, { statuses: ['must not be empty'] })
  const lastMoment = { since: '2026-01-01T23:59:59.999Z', until: '2026-01-01' }
  t.equal((await recover(assistant, lastMoment)).status, 202, 'a day ends after its last millisecond')
  isRefusal(t, await recover(assistant, { since: longAgo }, '2'), 404, 'not theirs')
})

t.test('a receiver that still fails gets what was recovered by its schedule, and more than 100,000 are refused', async (t) => {
  const hook = await receiver(t, answers(500))
  const assistant = await create(hook.url)
  const failed = await complete(assistant, ({ attempts }) => attempts.some(({ outcome }) => outcome === 'rejected'))
  await setStatus(failed.id, 'exhausted', 'attempts_used_up')
  t.same((await recover(assistant, { since: longAgo })).body.data, { count: 1 })
  await eventually(() => hook.received.length === 2)
  await parts.pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, status, reason)
    SELECT gen_random_uuid(), 'many-' || n, 'call.completed', '1', $1, 'skipped', 'webhook_off'
    FROM generate_series(1, 100001) n`, [assistant])
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
