// A worker as a process starts and stops it.
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { startWorkers, type WorkerDeps, type Workers } from '../../workers/start.js'
import { assistantCreated, callCompleted } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { noRedis, scratchRedis } from '../support/back-ends/redis.js'
import { workerSite, type WorkerSite } from '../support/workers/worker-site.js'

const ids = { assistant: 0 }

async function workers (
  t: Test, given: Partial<WorkerDeps> = {}, before?: (pool: Pool) => Promise<void>
): Promise<Workers & WorkerSite> {
  const site = await workerSite(t, given)
  await before?.(site.deps.pool)
  const started = await startWorkers(site.deps)
  t.teardown(() => started.stop())
  return { ...started, ...site }
}

/** As `pg_dump` does, in a transaction that stays open. */
async function readMonths (pool: Pool): Promise<PoolClient> {
  const reader = await pool.connect()
  await reader.query('BEGIN; LOCK TABLE ledger.webhook_attempts IN ACCESS SHARE MODE')
  return reader
}

t.test('stopping waits for the answer that is on its way', async (t) => {
  let reader: PoolClient | undefined
  const readsMonths = async (pool: Pool) => { reader = await readMonths(pool) }
  const { stop, deps, tell, assertAnswers } = await workers(t, {}, readsMonths) // starts although months are locked
  await reader?.query('COMMIT')
  reader?.release()
  const hook = await receiver(t, () => {})
  const assistant_id = ++ids.assistant
  const callId = randomUUID()
  await tell(assistantCreated(assistant_id, { is_webhook_active: true, webhook_url: hook.url }))
  hook.answer = (response, received, count) => {
    stopping = stop()
    setTimeout(() => answers(200)(response, received, count), 300)
  }
  let stopping: Promise<void> | undefined
  await tell(callCompleted(callId, { assistant_id }))
  await eventually(() => stopping !== undefined)
  await stopping
  t.same((await deps.pool.query(
    'SELECT status FROM ledger.webhook_deliveries WHERE call_id = $1', [callId]
  )).rows, [{ status: 'delivered' }])
  await t.resolves(assertAnswers(), 'a queue that is closed is not taken for a silent one')
})

t.test('a Redis that is down at the start is waited for', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  await redis.kill()
  const { tell } = await workers(t, { redisUrl: redis.url })
  const hook = await receiver(t)
  const assistant_id = ++ids.assistant
  await tell(assistantCreated(assistant_id, { is_webhook_active: true, webhook_url: hook.url }))
  await tell(callCompleted(randomUUID(), { assistant_id }))
  await redis.start()
  await eventually(() => hook.received.length === 1)
  t.pass('delivered without a restart')
})
