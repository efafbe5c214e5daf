// A worker as a process starts and stops it.
import t from 'tap'
import { startWorkers } from '../../workers/start.js'
import { assistantTo, callCompleted } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { answers, receiver } from '../support/receivers/receiver.js'
import { noRedis, scratchRedis } from '../support/back-ends/redis.js'
import { workerSite } from '../support/workers/worker-site.js'

t.test('a worker starts while a dump reads months of attempts, and its stop waits for the answer on its way', async (t) => {
  const { deps, tell } = await workerSite(t)
  const dump = await deps.pool.connect()
  await dump.query('BEGIN; LOCK TABLE ledger.webhook_attempts IN ACCESS SHARE MODE')
  const { stop, assertAnswers } = await startWorkers(deps)
  t.teardown(stop)
  await dump.query('COMMIT')
  dump.release()
  let stopping: Promise<void> | undefined
  const hook = await receiver(t, (...received) => {
    stopping = stop()
    setTimeout(() => answers(200)(...received), 300)
  })
  await tell(assistantTo(hook.url))
  await tell(callCompleted('c-1'))
  await eventually(() => stopping !== undefined)
  await stopping
  t.match((await deps.pool.query('SELECT status FROM ledger.webhook_deliveries')).rows, [{ status: 'delivered' }])
  await t.resolves(assertAnswers(), 'a queue that is closed is not taken for a silent one')
})

t.test('a Redis that is down at the start is waited for', { skip: noRedis() }, async (t) => {
  const redis = await scratchRedis(t)
  await redis.kill()
  const { deps, tell } = await workerSite(t, { redisUrl: redis.url })
  const { stop } = await startWorkers(deps)
  t.teardown(stop)
  const hook = await receiver(t)
  await tell(assistantTo(hook.url))
  await tell(callCompleted('c-1'))
  await redis.start()
  await eventually(() => hook.received.length === 1)
  t.pass('delivered without a restart')
})
