// A worker whose queue is dead gives its part to one whose queue answers.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { startWorkers } from '../../workers/start.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { assistantTo, callCompleted } from '../support/events/call-events.js'
import { eventually } from '../support/eventually.js'
import { receiver } from '../support/receivers/receiver.js'
import { workerSite } from '../support/workers/worker-site.js'

const patience = { answerWithinMs: 500, askEveryMs: 100, deadAfterMs: 1_000 }

t.test('a worker whose queue is dead says so, and another one acquires its leases and delivers', async (t) => {
  const { deps, tell } = await workerSite(t, { patience })
  const proxy = await tcpProxy(t, Number(new URL(deps.databaseUrl).port))
  const databaseUrl = Object.assign(new URL(deps.databaseUrl), { port: String(proxy.port) }).href
  const cutOff = await startWorkers({ ...deps, databaseUrl, holder: 'cut off' })
  t.teardown(() => cutOff.stop())
  const holders = async () => (await deps.pool.query<{ holder: string }>(
    'SELECT DISTINCT holder FROM ledger.leases WHERE expires_at > clock_timestamp()')).rows.map(({ holder }) => holder)
  await eventually(async () => (await holders()).join() === 'cut off')
  const healthy = await startWorkers({ ...deps, holder: 'healthy' })
  t.teardown(() => healthy.stop())
  const hook = await receiver(t)
  await tell(assistantTo(hook.url))
  await tell(callCompleted(randomUUID()))
  await eventually(() => hook.received.length === 1)

  const problem = () => cutOff.assertAnswers().then(() => undefined, String)
  proxy.freeze()
  await tell(callCompleted(randomUUID()))
  await eventually(async () => (await holders()).join() === 'healthy', 15_000)
  await eventually(async () => await problem() !== undefined)
  await healthy.assertAnswers()
  await eventually(() => hook.received.length === 2)

  proxy.cut()
  // Before the end of a wait for jobs, which takes up to ten seconds.
  await eventually(async () => await problem() === undefined)
  await healthy.stop()
  await tell(callCompleted(randomUUID()))
  await eventually(() => hook.received.length === 3)
  t.equal(new Set(hook.received.map(({ headers }) => headers['webhook-id'])).size, 3, 'each call once')
})
