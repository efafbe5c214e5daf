// Workers are killed, stopped and cut off from Postgres, the queue is emptied and killed, webhooks are switched and
// moved: in the end each delivery has come, and none twice but after an attempt that failed or is unknown.
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import { onEachQueue, type ScratchRedis } from '../../support/back-ends/redis.js'
import { eventually } from '../../support/eventually.js'
import { keepingLog } from '../../support/postgres/ledger.js'
import { receiver } from '../../support/receivers/receiver.js'
import { mainProcess } from '../../support/ringledger.js'
import { senderRig, type SenderRig } from '../../support/workers/sender-rig.js'
import { openQueue } from '../../../workers/queue/queue.js'

const rounds = Number(process.env.CHAOS_ROUNDS ?? 200)
const inAll = 12 // assistants, of three users
const userOf = (assistant: number) => String(assistant % 3)

t.setTimeout(rounds * 2_000 + 240_000)

onEachQueue(t, {
  async 'nothing is lost, and nothing doubled but what was unknown' (t, redis) {
    const r = await senderRig(t)
    const hook = await receiver(t, (response, _, count) => {
      setTimeout(() => { response.writeHead(count % 11 === 0 ? 500 : 200).end() }, count % 40)
    })
    const queue = await openQueue({
      redisUrl: redis?.url, databaseUrl: r.databaseUrl, pool: r.pool, log: keepingLog()
    })
    t.teardown(() => queue.close())
    let started = 0
    const start = () => {
      const holder = `worker ${++started}`
      return {
        holder,
        ...mainProcess<{ at: string }>(t, new URL('./worker-main.js', import.meta.url), [
          r.databaseUrl, redis?.url ?? '', holder])
      }
    }
    const workers = [start(), start(), start()]
    await eventually(() => workers.every(({ said }) => said.length > 0), 30_000)
    const trouble = troubleFor(r, redis)
    for (let round = 0; round < rounds; round++) {
      const assistant = 1 + round % inAll
      await r.add(5, { assistant, user: userOf(assistant), to: hook.url })
      await queue.add([String(assistant)]).catch(() => {})
      if (round % 5 === 0) {
        const worker = workers.shift()
        if (worker) worker.signal(round % 10 === 0 ? 'SIGKILL' : 'SIGTERM')
        workers.push(start())
      } else await trouble[round % trouble.length]?.(assistant, hook.url)
      await delay(50)
    }
    const open = async () => (await r.rows('webhook_deliveries', "status <> 'delivered'")).length
    await eventually(async () => await open() === 0, 120_000)
    const attempts = new Map<string, string[]>()
    for (const { delivery_id: id, outcome } of await r.rows('webhook_attempts')) {
      attempts.set(String(id), [...attempts.get(String(id)) ?? [], String(outcome)])
    }
    const times = new Map<string, number>()
    for (const { headers } of hook.received) {
      const id = String(headers['webhook-id'])
      times.set(id, (times.get(id) ?? 0) + 1)
    }
    t.equal(times.size, rounds * 5, 'each has come')
    const doubled = [...times].filter(([id, n]) => n > (attempts.get(id)?.length ?? 0))
    t.same(doubled, [], 'whatever came has an attempt')
    const outcomes = [...attempts.values()].flat()
    t.same([...attempts].filter(([, all]) => all.filter((outcome) => outcome === 'delivered').length > 1), [], 'and one success')
    t.comment(`${outcomes.length} attempts of ${times.size}, ${outcomes.filter((outcome) => outcome === 'unknown').length} unknown`)
  }
})

/** What else goes wrong or changes. */
const troubleFor = (r: SenderRig, redis?: ScratchRedis) => [
  () => r.pool.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'worker-main'"),
  () => redis ? redis.flush() : r.pool.query('TRUNCATE queue.job CASCADE'),
  async (assistant: number, to: string) => {
    const change = { assistant_id: assistant, user_id: userOf(assistant) }
    await r.change({ ...change, url: to, is_on: false })
    await r.change({ ...change, url: `${to}/${Date.now()}` })
  },
  async () => {
    await redis?.kill()
    await delay(200)
    await redis?.start()
  },
  (assistant: number) => r.resume(assistant)
] as Array<(assistant: number, to: string) => Promise<unknown>>
