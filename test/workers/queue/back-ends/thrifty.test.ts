// What a job on Postgres costs in statements: with few calls at once each of them pays for all of it.
import pg from 'pg'
import t from 'tap'
import { openQueue } from '../../../../workers/queue/queue.js'
import { eventually } from '../../../support/eventually.js'
import { scratchLedger } from '../../../support/postgres/ledger.js'

const { databaseUrl, pool } = await scratchLedger(t)
const warnings: unknown[] = []
const log = { warn: (...warning: unknown[]) => { warnings.push(warning) } }
const patience = { answerWithinMs: 5_000, askEveryMs: 60_000, deadAfterMs: 10_000 }

const texts: string[] = []
const query = Reflect.get(pg.Client.prototype, 'query')
Reflect.set(pg.Client.prototype, 'query', function (this: unknown, ...given: unknown[]): unknown {
  const [first] = given
  const text: unknown = typeof first === 'object' && first !== null ? Reflect.get(first, 'text') : first
  texts.push(String(text))
  return Reflect.apply(query, this, given)
})
t.teardown(() => { Reflect.set(pg.Client.prototype, 'query', query) })

t.test('a job that is added while its worker looks for one is not missed', async (t) => {
  const queue = await openQueue({ databaseUrl, pool, log, patience })
  t.teardown(() => queue.close())
  const done = new Set<string>()
  queue.work(async ({ deliveryId }) => { done.add(deliveryId) }, 2)
  const latest: number[] = []
  for (let n = 0; n < 300; n++) {
    const from = performance.now()
    await queue.add([{ deliveryId: `1111-${n}`, n: 1, jobNumber: 1 }])
    while (!done.has(`1111-${n}`)) await new Promise((resolve) => setImmediate(resolve))
    latest.push(performance.now() - from) // the next one comes while the worker ends this one and looks
  }
  t.ok(Math.max(...latest) < 4_000, `none waits for the look of every five seconds: ${Math.max(...latest)} ms`)
  await queue.stopWork(1_000, () => {})
  t.same(warnings, [])
})

t.test('jobs that are added together are taken together, while one runs and while none does', async (t) => {
  const queue = await openQueue({ databaseUrl, pool, log, patience })
  t.teardown(() => queue.close())
  let running = 0
  const release: Array<() => void> = []
  queue.work(async () => {
    running += 1
    await new Promise<void>((resolve) => { release.push(resolve) })
  }, 10)
  const add = async (from: number, count: number) => await queue.add(Array.from({ length: count }, (_, n) =>
    ({ deliveryId: `2222-${from + n}`, n: 1, jobNumber: 1 })))
  for (const [from, count] of [[0, 3], [3, 1], [4, 4]] as const) {
    await add(from, count)
    await eventually(() => running === from + count, 4_000)
  }
  t.equal(running, 8)
  for (const end of release) end()
  await queue.stopWork(1_000, () => {})
  t.same(warnings, [])
})
