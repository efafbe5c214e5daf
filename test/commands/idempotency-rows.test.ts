// The rows of idempotency keys: their leases after a crash, and their removal.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { EventStoreUnavailable } from '../../src/log/errors.js'
import { Idempotency, KeyInFlight } from '../../src/commands/idempotency.js'
import { caller } from '../support/running-service.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t)
const { call, parts: { pool } } = service
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })
const idempotency = new Idempotency(pool, { seal: (_user, text) => ({ key_id: '', sealed: btoa(text) }), unseal: (_user, { sealed }) => atob(sealed) })

/** What a crash between the append and the answer leaves: the event, and a row whose lease runs out. */
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
    INSERT INTO ledger.background_requests (id, kind, user_id, input, progress, state, due_at)
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

t.test('however many are old, and however many processes remove them, each is removed once', async (t) => {
  await pool.query(`
    INSERT INTO ledger.idempotency_keys (user_id, method, route, key, request_hash, command_id, ids,
      leased_until, created_at)
    SELECT '1', 'POST', '/', 'old ' || n, '', gen_random_uuid(), '{}', now(), now() - interval '25 hours'
    FROM generate_series(1, 2500) n`)
  const removed = await Promise.all([1, 2, 3].map(() => idempotency.removeExpired()))
  t.equal(removed.reduce((sum, count) => sum + count), 2500)
  t.same((await pool.query('SELECT FROM ledger.idempotency_keys WHERE key LIKE \'old %\'')).rowCount, 0)
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
