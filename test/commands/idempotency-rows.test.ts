// The rows of idempotency keys: their leases after a crash, and their removal.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { commandHandler } from '../../src/commands/handle-command.js'
import { EventStoreUnavailable } from '../../src/log/errors.js'
import { Idempotency, KeyInFlight } from '../../src/commands/idempotency/idempotency.js'
import { updateRequest } from '../support/commands/handle-on.js'
import { newAssistant, testService } from '../support/service.js'

const service = await testService(t)
const { call, parts: { pool, streams } } = service
const keyed = (key: string) => ({ headers: { 'idempotency-key': key } })

t.test('a request that crashed after its append is finished by the next one with its key', async (t) => {
  const key = randomUUID()
  const first = await call('POST', '/user/assistant', newAssistant, keyed(key))
  // What a crash between the append and the answer leaves: the event, and a row whose lease runs out.
  await pool.query(`
    UPDATE ledger.idempotency_keys
    SET committed_at = NULL, stream = NULL, revision = NULL, leased_until = now() + interval '1 hour'
    WHERE key = $1`, [key])
  t.equal(
    (await call('POST', '/user/assistant', newAssistant, keyed(key))).status,
    409,
    'while the lease holds it may still be running'
  )
  await pool.query(`
    UPDATE ledger.idempotency_keys SET leased_until = now() - interval '1 second' WHERE key = $1`, [key])
  const retried = await call('POST', '/user/assistant', newAssistant, keyed(key))
  t.equal(retried.status, 201)
  t.equal(retried.body.data.id, first.body.data.id)
  t.equal((await streams.read(`assistant-${first.body.data.id}`)).length, 1, 'one event')
})

t.test('a request that crashed before its append is carried out by the next one, with the same id', async (t) => {
  const key = randomUUID()
  const first = await call('POST', '/user/assistant', newAssistant, keyed(key))
  const unused = Number(first.body.data.id) + 100_000
  await pool.query(`
    UPDATE ledger.idempotency_keys
    SET committed_at = NULL, ids = ARRAY[$2::bigint], leased_until = now() - interval '1 second'
    WHERE key = $1`, [key, unused])
  const retried = await call('POST', '/user/assistant', newAssistant, keyed(key))
  t.equal(retried.status, 201)
  t.equal(retried.body.data.id, unused)
})

t.test('keys are kept for 24 hours and removed afterwards', async (t) => {
  const [young, old] = [randomUUID(), randomUUID()]
  for (const key of [young, old]) await call('POST', '/user/assistant', newAssistant, keyed(key))
  await pool.query(`
    UPDATE ledger.idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1`, [old])
  t.equal(await new Idempotency(pool, commandHandler(streams)).removeExpired(), 1)
  const { rows } = await pool.query('SELECT key FROM ledger.idempotency_keys WHERE key = ANY($1)', [[young, old]])
  t.same(rows, [{ key: young }])
})

t.test('however many are old, and however many processes remove them, each is removed once', async (t) => {
  await pool.query(`
    INSERT INTO ledger.idempotency_keys (user_id, method, route, key, request_hash, command_id, ids,
      leased_until, created_at)
    SELECT '1', 'POST', '/', 'old ' || n, '', gen_random_uuid(), '{}', now(), now() - interval '25 hours'
    FROM generate_series(1, 2500) n`)
  const removed = await Promise.all([1, 2, 3].map(() => new Idempotency(pool, commandHandler(streams)).removeExpired()))
  t.equal(removed.reduce((sum, count) => sum + count), 2500)
  t.same((await pool.query('SELECT FROM ledger.idempotency_keys WHERE key LIKE \'old %\'')).rowCount, 0)
})

t.test('a request that was overtaken by a retry does not free the key under it', async (t) => {
  const key = randomUUID()
  const lease = (until: string) =>
    pool.query(`UPDATE ledger.idempotency_keys SET leased_until = now() ${until} WHERE key = $1`, [key])
  const claim = { userId: '1', method: 'POST', route: '/', key, body: {}, path: '/' }
  const slow = new Idempotency(pool, {
    ...commandHandler(streams),
    async handle () { // while this one was busy its lease ran out, and a retry took the key over
      await lease('+ interval \'1 hour\'')
      throw new EventStoreUnavailable('x')
    }
  })
  await t.rejects(
    slow.once(claim, async () => [1], ({ commandId }) => updateRequest(1, {}, commandId)), EventStoreUnavailable
  )
  t.equal((await pool.query('SELECT FROM ledger.idempotency_keys WHERE key = $1', [key])).rowCount, 1)
  await t.rejects(slow.once(claim, async () => [1], ({ commandId }) => updateRequest(1, {}, commandId)), KeyInFlight)
})
