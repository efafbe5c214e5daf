// Periodic work of one process of many: a pass that does not end gives the lease back, one that fails backs off alone.
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import { openPool } from '../../src/postgres/pool.js'
import { runPeriodic } from '../../workers/periodic.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { pool, databaseUrl } = await scratchLedger(t)

interface Told { err?: unknown, task?: string }
const logTo = (told: Told[]) => ({ warn: (details: Told) => { told.push(details) } })

/** A pool whose connections go through a proxy. */
async function proxied (t: Test, applicationName: string) {
  const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const behind = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).href
  return { proxy, pool: openPool(behind, { applicationName, onError: () => {} }) }
}

t.test('a pass that waits for a dead connection is given up with the lease, and another process goes on', async (t) => {
  const { proxy, pool: stranded } = await proxied(t, 'stranded')
  const stopping = new AbortController()
  t.teardown(async () => {
    stopping.abort()
    await proxy.close()
    await stranded.end()
  })
  const told: Told[] = []
  const seen: string[] = []
  const passes: AbortSignal[] = []
  const loop = (holder: string, pass: (signal: AbortSignal) => Promise<unknown>) => runPeriodic([{
    name: 'tried',
    everyMs: 50,
    passWithinMs: 300,
    async run (given) {
      seen.push(holder)
      await pass(given)
    }
  }], { pool, name: 'tries', holder, signal: stopping.signal, log: logTo(told) })
  await stranded.query('SELECT 1')
  proxy.strand()
  const loops = [loop('stuck', async (pass) => {
    passes.push(pass)
    if (passes.length === 1) await stranded.query('SELECT 1')
    else await delay(10)
  })]
  await eventually(() => seen.length === 1)
  loops.push(loop('other', async () => {}))
  await eventually(() => told.length > 0)
  t.match(told[0]?.err, /a pass of the tried did not end within 300 ms: its lease is given up/)
  t.ok(passes[0]?.aborted, 'what it would begin now is not begun')
  await eventually(() => seen.length > 3)
  stopping.abort()
  await Promise.all(loops)
})

t.test('a task that fails is tried again, and neither it nor one that hangs delays the others', async (t) => {
  const stopping = new AbortController()
  const told: Told[] = []
  let [failed, well] = [0, 0]
  const running = runPeriodic([
    { name: 'hangs', everyMs: 10, run: (signal) => once(signal, 'abort') },
    { name: 'fails', everyMs: 10, run: async () => { throw new Error(`failure ${failed += 1}`) } },
    { name: 'well', everyMs: 10, run: async () => { well += 1 } }
  ], { pool, name: 'beside', holder: 'one', signal: stopping.signal, log: logTo(told) })
  await eventually(() => well > 2 && told.length > 1)
  t.match(told, [{ task: 'fails', err: /failure 1/ }, { task: 'fails', err: /failure 2/ }])
  stopping.abort()
  await running
})

t.test('after an outage of Postgres the next pass comes within seconds, however seldom passes are made', async (t) => {
  const { proxy, pool: cutOff } = await proxied(t, 'cut off')
  const stopping = new AbortController()
  const told: Told[] = []
  let passes = 0
  await proxy.close()
  const looping = runPeriodic([{ name: 'seldom', everyMs: 600_000, run: async () => { passes += 1 } }], {
    pool: cutOff, name: 'seldom', holder: 'one', signal: stopping.signal, log: logTo(told)
  })
  t.teardown(async () => {
    stopping.abort()
    await looping
    await cutOff.end()
  })
  await eventually(() => told.length > 0)
  await proxy.accept()
  await eventually(() => passes > 0, 20_000)
})
