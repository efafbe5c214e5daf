// Idempotency keys and If-Match: one command, one set of events, one answer, at one revision.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { newAssistant, testService } from '../support/service.js'
import { EventStoreUnavailable } from '../../src/log/errors.js'
import { Idempotency, KeyInFlight } from '../../src/commands/idempotency.js'
import { caller, isRefusal } from '../support/running-service.js'
import { eventually } from '../support/eventually.js'

const service = await testService(t, ['api', 'projector'])
const { call, parts: { pool, streams, keys } } = service
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

let phone = 15551000000
const nextPhone = () => `+${phone++}`

t.test('the same key and body give the first answer again, and one event', async (t) => {
  const key = randomUUID()
  const first = await call('POST', '/user/assistant', newAssistant, keyed(key))
  const second = await call('POST', '/user/assistant', newAssistant, keyed(key))
  t.equal(first.status, 201)
  t.equal(second.status, 201)
  t.same(second.body, first.body)
  t.equal(first.headers.get('idempotent-replayed'), null)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.equal(second.headers.get('x-read-position'), first.headers.get('x-read-position'))
  t.equal(second.headers.get('etag'), first.headers.get('etag'))
  t.equal((await streams.read(`assistant-${first.body.data.id}`)).length, 1)
})

t.test('the order of members says nothing: it is the same body, at any depth; that of a list does', async (t) => {
  const key = randomUUID()
  const lead = { campaign_id: 1, phone_number: nextPhone(), variables: { customer_name: 'Ana', plan: { a: 1, b: [1, 2] } } }
  const turned = { variables: { plan: { b: [1, 2], a: 1 }, customer_name: 'Ana' }, phone_number: lead.phone_number, campaign_id: 1 }
  const first = await call('POST', '/user/lead', lead, keyed(key))
  const second = await call('POST', '/user/lead', turned, keyed(key))
  t.strictSame([second.status, second.body.data.id], [first.status, first.body.data.id])
  const otherList = { ...lead, variables: { ...lead.variables, plan: { a: 1, b: [2, 1] } } }
  t.equal((await call('POST', '/user/lead', otherList, keyed(key))).status, 422)
})

t.test('another body under the same key is refused, naming the key', async (t) => {
  const key = randomUUID()
  await call('POST', '/user/assistant', newAssistant, keyed(key))
  const other = await call('POST', '/user/assistant', { ...newAssistant, assistant_name: 'Other' }, keyed(key))
  t.equal(other.status, 422)
  t.same(Object.keys(other.body.errors), ['Idempotency-Key'])
})

t.test('the key of one user means nothing to another', async (t) => {
  const key = randomUUID()
  const body = { ...newAssistant, voice_id: 1 }
  const one = await call('POST', '/user/assistant', body, keyed(key))
  const two = await call('POST', '/user/assistant', body, { ...keyed(key), user: '2' })
  t.equal(two.status, 201)
  t.not(two.body.data.id, one.body.data.id)
})

t.test('a retry of what was refused is refused in the same words, also where a number was to be claimed before', async (t) => {
  const taken = { phone_number: nextPhone() }
  await call('POST', '/user/phone-number', taken, { user: '2' })
  const lead = { phone_number: nextPhone(), campaign_id: 1 }
  await call('POST', '/user/lead', lead)
  for (const [method, path, body] of [
    ['POST', '/user/phone-number', taken], ['POST', '/user/lead', lead], ['POST', '/user/assistant', {}]
  ] as const) {
    const key = randomUUID()
    const [first, second] = [await call(method, path, body, keyed(key)), await call(method, path, body, keyed(key))]
    t.equal(first.status, 422, path)
    t.strictSame([second.status, second.body], [422, first.body], path)
  }
})

t.test('one of two requests at once is handled, the other is told to wait or gets its answer', async (t) => {
  const key = randomUUID()
  const answers =
    await Promise.all(Array.from({ length: 8 }, () => call('POST', '/user/assistant', newAssistant, keyed(key))))
  const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.data.id))
  t.equal(ids.size, 1, 'one assistant')
  t.same(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409), [])
  const waiting = answers.find(({ status }) => status === 409)
  if (waiting) t.equal(waiting.headers.get('retry-after'), '1')
})

t.test('a key that is empty, too long, not printable, or one of two is refused by name', async (t) => {
  for (const key of ['', 'k'.repeat(256), ['one', 'two'] as never]) {
    const { status, body } = await call('POST', '/user/assistant', newAssistant, keyed(key))
    t.equal(status, 422, JSON.stringify(key.slice(0, 10)))
    t.strictSame(body.errors, { 'Idempotency-Key': ['must be 1 to 255 printable ASCII characters, once'] })
  }
  t.equal((await call('POST', '/user/assistant', newAssistant, keyed('k'.repeat(255)))).status, 201)
})

t.test('with a key and If-Match the first answer stands under a newer ETag, and a 412 frees the key', async (t) => {
  const path = `/user/assistant/${(await call('POST', '/user/assistant', newAssistant)).body.data.id}`
  const change = { assistant_name: 'First' }
  const both = (key: string, tag: string) => ({ headers: { 'idempotency-key': key, 'if-match': tag } })
  const [key, late] = [randomUUID(), randomUUID()]
  const first = await call('PUT', path, change, both(key, '"0"'))
  t.equal(first.status, 200)
  await call('PUT', path, { assistant_name: 'Second' })
  const replayed = await call('PUT', path, change, both(key, '"0"'))
  t.same(
    [replayed.status, replayed.body, replayed.headers.get('etag'), replayed.headers.get('idempotent-replayed')],
    [200, first.body, '"1"', 'true']
  )
  t.equal((await call('PUT', path, change, both(late, '"0"'))).status, 412)
  t.equal((await call('PUT', path, change, both(late, '"2"'))).status, 200)
})

t.test('If-Match lets an update through only at the revision that it names', async (t) => {
  const created = await call('POST', '/user/assistant', newAssistant)
  const path = `/user/assistant/${created.body.data.id}`
  t.equal(created.headers.get('etag'), '"0"')
  const updated = await call('PUT', path, { speech_speed: 1.1 }, { headers: { 'if-match': '"0"' } })
  t.equal(updated.status, 200)
  t.equal(updated.headers.get('etag'), '"1"')
  const late = await call('PUT', path, { speech_speed: 0.9 }, { headers: { 'if-match': '"0"' } })
  t.equal(late.status, 412)
  t.same(Object.keys(late.body), ['message'])
  t.equal((await call('PUT', path, { speech_speed: 0.9 }, { headers: { 'if-match': '"7", "1"' } })).status, 200)
  t.equal((await call('PUT', path, { speech_speed: 0.8 }, { headers: { 'if-match': '*' } })).status, 200)
  const afterProxy = (revision: number) => ({ headers: { 'if-match': `"x", W/"${revision}"` } })
  t.equal((await call('PUT', path, { speech_speed: 0.7 }, afterProxy(2))).status, 412)
  t.equal((await call('PUT', path, { speech_speed: 0.7 }, afterProxy(3))).status, 200, 'it has compressed the answer')
})

const idempotency = new Idempotency(pool, keys)

/** Leaves what a crash between the append and the answer does: the event, and a row whose lease runs out. */
const crashed = async (key: string, lease = '- 1 second') => await pool.query(`
  UPDATE ledger.idempotency_keys
  SET committed_at = NULL, about = NULL, answer = NULL, answer_key_id = NULL, leased_until = now() + $2::interval
  WHERE key = $1`, [key, lease])

t.test('a process that starts with the read model far behind finishes such a request, and begins no new one', async (t) => {
  const key = randomUUID()
  const first = await call('POST', '/user/assistant', newAssistant, keyed(key))
  await crashed(key)
  const holder = await pool.connect()
  await holder.query('BEGIN; SELECT FROM read_model.assistants_checkpoint FOR UPDATE')
  const held = async () => { await holder.query('ROLLBACK').finally(() => holder.release()) }
  try {
    await call('POST', '/user/assistant', newAssistant) // which the read model does not see
    const behind = caller((await service.start(['api'], { READ_MODEL_WAIT_MS: '50' })).url)
    const post = async (key: string) =>
      await behind('POST', '/user/assistant', { token: await service.token('1'), body: newAssistant, ...keyed(key) })
    t.equal((await post(randomUUID())).status, 503)
    const again = await post(key)
    t.strictSame([again.status, again.body, again.headers.get('idempotent-replayed')], [201, first.body, 'true'])
  } finally {
    await held()
  }
  t.strictSame((await call('POST', '/user/assistant', newAssistant, keyed(key))).body, first.body)
})

t.test('no answer is kept that an erasure cannot find, or has looked for', async (t) => {
  const answer = { status: 200, body: {} }
  const keeping = async (user: string, isUnchanged: boolean, meanwhile?: string) => {
    const claim = { userId: user, method: 'POST', route: '/', key: randomUUID(), body: {}, path: '/' }
    return await idempotency.once(claim, {}, async ({ commandId, keep }) => {
      if (meanwhile) await pool.query(meanwhile, [commandId])
      await keep({ ...answer, isUnchanged })
      return answer
    })
  }
  await pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, input, progress, state, due_at)
    VALUES (gen_random_uuid(), 'person-erasure', 'erasing', '{}', '{}', 'accepted', now() + interval '1 day')`)
  t.match(await keeping('1', true), answer)
  t.match(await keeping('erasing', false), answer, 'its id is in the log')
  await t.rejects(keeping('erasing', true), KeyInFlight)
  await t.rejects(
    keeping('1', false, "UPDATE ledger.idempotency_keys SET request_hash = '' WHERE command_id = $1"), KeyInFlight)
})

t.test('keys are kept for 24 hours and removed afterwards', async (t) => {
  const [young, old] = [randomUUID(), randomUUID()]
  for (const key of [young, old]) await call('POST', '/user/assistant', newAssistant, keyed(key))
  await pool.query(`
    UPDATE ledger.idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1`, [old])
  t.equal(await idempotency.removeExpired(), 1)
  const { rows } = await pool.query('SELECT key FROM ledger.idempotency_keys WHERE key = ANY($1)', [[young, old]])
  t.same(rows, [{ key: young }])
})

t.test('a request that was overtaken by a retry does not free the key under it', async (t) => {
  const key = randomUUID()
  const lease = (until: string) =>
    pool.query(`UPDATE ledger.idempotency_keys SET leased_until = now() ${until} WHERE key = $1`, [key])
  const claim = { userId: '1', method: 'POST', route: '/', key, body: {}, path: '/' }
  const slow = () => idempotency.once(claim, {}, async () => {
    await lease('+ interval \'1 hour\'') // while this one was busy its lease ran out, and a retry took the key over
    throw new EventStoreUnavailable('x')
  })
  await t.rejects(slow(), EventStoreUnavailable)
  t.equal((await pool.query('SELECT FROM ledger.idempotency_keys WHERE key = $1', [key])).rowCount, 1)
  await t.rejects(slow(), KeyInFlight)
})

t.test('a command that writes no event does its work once per key, and answers the same again', async (t) => {
  const { body: { data: { id } } } = await call('POST', '/user/assistant', newAssistant)
  for (const path of [`/user/assistant/${id}/webhook-secret`, '/user/webhook-secret/rotate']) {
    const first = await call('POST', path, undefined, keyed('once'))
    const again = await call('POST', path, undefined, keyed('once'))
    t.same([again.status, again.body, again.headers.get('idempotent-replayed')], [200, first.body, 'true'], path)
    isRefusal(t, await call('POST', path, { overlap_hours: 1 }, keyed('once')), 422, `${path}: another body`)
  }
  const dropped = () => call('DELETE', `/user/assistant/${id}/webhook-secret`, undefined, keyed('gone'))
  t.same((await dropped()).body, (await dropped()).body)
})

t.test('an id whose stream exists already is passed over, and nobody else\'s assistant is touched', async (t) => {
  let first = await call('POST', '/user/assistant', newAssistant)
  const block = 20
  while (first.body.data.id <= block) first = await call('POST', '/user/assistant', newAssistant)
  // Another process finds this with an older Postgres beside a newer log: the next block begins with that id.
  await pool.query("SELECT setval('ledger.assistant_ids', $1)", [first.body.data.id - block])
  const { url } = await service.start(['api'])
  const token = await service.token('2')
  const { id } = await eventually(async () => { // it gives out ids once it has seen how far the read models are
    const answer = await caller(url)('POST', '/user/assistant', { token, body: newAssistant })
    return answer.status === 201 && answer.body.data
  })
  t.ok(id > first.body.data.id, `${id} is a new id`)
  t.equal((await streams.read(`assistant-${first.body.data.id}`)).length, 1)
})
