// Worker processes that are killed around a request: the delivery is made all the same, and recorded once.
import t from 'tap'
import { onEachQueue } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { mainProcess } from '../../support/ringledger.js'
import { receiver } from '../../support/receivers/receiver.js'
import { senderRig } from '../../support/workers/sender-rig.js'

onEachQueue(t, {
  async 'a delivery is made although its workers are killed before or after its request' (t, redis) {
    const r = await senderRig(t)
    const hook = await receiver(t)
    const [id = ''] = await r.add(1, { to: hook.url })
    const start = (name: string, diesAt = '') => mainProcess<{ at: string }>(
      t, new URL('./worker-main.js', import.meta.url), [r.databaseUrl, redis?.url ?? '', name, diesAt])
    for (const diesAt of ['sends', 'was answered']) { // two more would hold it
      t.equal(await start(diesAt, diesAt).ended, 'SIGKILL', `killed when it ${diesAt}`)
    }
    const worker = start('lives')
    // the job of a killed worker is given up after 10 to 20 s, the worker after 15 to 20 s
    await eventually(async () => (await r.delivery(id))?.status === 'delivered', 60_000)
    const attempts = await r.rows('webhook_attempts', 'true ORDER BY started_at')
    t.same(attempts.map(({ trigger, n, outcome }) => [trigger, n, outcome]),
      [['schedule', 1, 'unknown'], ['schedule', 2, 'unknown'], ['schedule', 3, 'delivered']])
    t.match(await r.delivery(id), { attempt_count: 3, failures: 0, due_in: null })
    t.same(hook.received.map(({ headers }) => headers['webhook-attempt']), ['2', '3'])
    const webhooks = hook.received.map(({ headers, body }) => `${String(headers['webhook-id'])} ${body.toString()}`)
    t.equal(new Set(webhooks).size, 1, 'the same id and the same bytes')
    worker.signal('SIGKILL')
    await worker.ended // the next test has the same Redis
  }
})
