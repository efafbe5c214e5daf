// A subscription that does not move is noticed; a subscription that is behind and comes closer is fine.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { monitorLag, type Lag } from '../../src/subscriptions/lag.js'
import { eventually } from '../support/eventually.js'

const toleranceMs = 200

/** A subscription and a log that tests move, and what the monitor says of them. */
function monitored (t: Test) {
  const log = { head: 100n, position: 100n, isAway: false }
  let samples = 0
  let looks = 0
  const monitor = monitorLag({
    head: async () => {
      samples += 1
      if (log.isAway) throw new Error('away')
      return log.head
    },
    positions: async () => [{ name: 'leads', position: log.position }],
    lookNow: () => { looks += 1 },
    everyMs: 10,
    toleranceMs
  })
  t.teardown(() => monitor.stop())
  const lag = () => monitor.lags()[0] as Lag
  const sampled = async () => {
    const wanted = samples + 2
    await eventually(() => samples >= wanted)
  }
  const longer = async () => {
    await delay(1.5 * toleranceMs)
    await sampled()
  }
  const fresh = () => monitor.freshLags()
  return { log, fresh, lag, sampled, longer, looks: () => looks }
}

t.test('an old lag is not shown as fresh once nothing can be read', async (t) => {
  const { log, fresh, lag, longer } = monitored(t)
  t.match(await eventually(() => fresh()[0] ?? false), { lag: 0n })
  log.isAway = true
  await longer()
  t.throws(fresh, /could not be compared/)
  t.match(lag(), { lag: 0n }, 'for probes the last one stands')
  log.isAway = false
  await eventually(() => lag() && fresh().length === 1).catch(() => t.fail('it is fresh again'))
})

t.test('a subscription that stands while the log moves is asked to look, and not alive until it has caught up', async (t) => {
  const { log, lag, sampled, looks } = monitored(t)
  await sampled()
  t.equal(looks(), 0)
  log.head = 150n
  await eventually(() => looks() > 0)
  await sampled()
  t.match(lag(), { lag: 50n, isAlive: true, isKeepingUp: true }, 'it has some time')
  await eventually(() => !lag().isAlive)
  t.match(lag(), { lag: 50n, isAlive: false, isKeepingUp: false })
  t.ok(lag().lagSeconds >= toleranceMs / 1000)
  log.position = 150n
  await sampled()
  t.match(lag(), { lag: 0n, lagSeconds: 0, isAlive: true, isKeepingUp: true })
})

t.test('a subscription that is far behind and comes closer keeps up, also while the log grows', async (t) => {
  const { log, lag, sampled } = monitored(t)
  Object.assign(log, { head: 1_000_000n, position: 0n })
  do {
    log.head += 10n
    log.position += 100n
    await sampled()
    t.match(lag(), { isAlive: true, isKeepingUp: true })
  } while (lag().lagSeconds * 1000 <= 1.5 * toleranceMs)
})

t.test('a subscription that moves more slowly than the log is alive and does not keep up', async (t) => {
  const { log, lag, sampled } = monitored(t)
  await eventually(async () => {
    log.head += 100n
    log.position += 10n
    await sampled()
    return !lag().isKeepingUp
  })
  t.match(lag(), { isAlive: true })
})

t.test('a subscription that is ahead of the log has a lag below zero, and does not keep up', async (t) => {
  const { log, lag, sampled } = monitored(t)
  await sampled()
  log.head = 90n
  await sampled()
  t.match(lag(), { lag: -10n, isKeepingUp: false })
  log.head = 100n
  await sampled()
  t.match(lag(), { lag: 0n, isKeepingUp: true })
})
