// Work of one process of many: a pass that does not end gives its lease back.
import t from 'tap'
import { setTimeout as delay } from 'node:timers/promises'
import { openPool } from '../../../src/postgres/pool.js'
import { repeatLeased, type Pass } from '../../../workers/passes/leased-loop.js'
import { tcpProxy } from '../../support/back-ends/tcp-proxy.js'
import { eventually } from '../../support/eventually.js'
import { scratchLedger } from '../../support/postgres/ledger.js'

const { pool, databaseUrl } = await scratchLedger(t)

t.test('a pass that waits for a dead connection is given up with the lease, and another process goes on', async (t) => {
  const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const behindProxy = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).href
  const stranded = openPool(behindProxy, { applicationName: 'stranded', onError: () => {} })
  const stopping = new AbortController()
  t.teardown(async () => {
    stopping.abort()
    await proxy.close()
    await stranded.end()
  })
  const told: unknown[] = []
  const seen: string[] = []
  const passes: Pass[] = []
  const loop = (holder: string, pass: (pass: Pass) => Promise<unknown>) => repeatLeased({
    pool, name: 'tried', holder, signal: stopping.signal, everyMs: 50, passWithinMs: 300, onError: (error) => told.push(error)
  }, async (given) => {
    seen.push(holder)
    await pass(given)
    return 'done'
  })
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
  t.match(told[0], /a pass of the tried did not end within 300 ms: its lease is given up/)
  t.ok(passes[0]?.signal.aborted, 'what it would begin now is not begun')
  await eventually(() => seen.length > 3)
  stopping.abort()
  await Promise.all(loops)
})

t.test('each lease has its first pass, and a pass that says `again` is followed at once', async (t) => {
  const stopping = new AbortController()
  const firsts: boolean[] = []
  await repeatLeased({
    pool, name: 'first', holder: 'one', signal: stopping.signal, everyMs: 60_000, onError: (error) => { throw error }
  }, async ({ isFirst }) => {
    firsts.push(isFirst)
    if (firsts.length === 3) stopping.abort()
    return 'again'
  })
  t.same(firsts, [true, false, false])
})

t.test('after an outage of Postgres the next pass comes within seconds, however seldom passes are made', async (t) => {
  const proxy = await tcpProxy(t, Number(new URL(databaseUrl).port))
  const behindProxy = Object.assign(new URL(databaseUrl), { port: String(proxy.port) }).href
  const cutOff = openPool(behindProxy, { applicationName: 'cut off', onError: () => {} })
  const stopping = new AbortController()
  const told: unknown[] = []
  let passes = 0
  await proxy.close()
  const looping = repeatLeased({
    pool: cutOff, name: 'seldom', holder: 'one', signal: stopping.signal, everyMs: 600_000, onError: (error) => told.push(error)
  }, async () => {
    passes += 1
    return 'done'
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
