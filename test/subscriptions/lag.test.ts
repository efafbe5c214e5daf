// A feed that stands still is noticed, and one that is behind and comes closer is left alone.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { watchFeeds, type FeedState } from '../../src/subscriptions/lag.js'
import { eventually } from '../support/eventually.js'

const patienceMs = 200

/** A feed and a log that move as they are told, and what the watch says of them. */
function watched (t: Test) {
  const log = { head: 100n, position: 100n, isAway: false }
  let looks = 0
  const watch = watchFeeds({
    head: async () => { looks += 1; if (log.isAway) throw new Error('away'); return log.head },
    positions: async () => new Map([['leads', log.position]]),
    everyMs: 10,
    patienceMs
  })
  t.teardown(() => watch.stop())
  const state = () => watch.states()[0] as FeedState
  const looked = async () => { const wanted = looks + 2; await eventually(() => looks >= wanted) }
  return { log, watch, state, looked, longer: async () => { await delay(1.5 * patienceMs); await looked() } }
}

t.test('at the head it is alive, however long nothing happens', async (t) => {
  const { state, longer } = watched(t)
  await longer()
  t.match(state(), { name: 'leads', position: 100n, lag: 0n, lagSeconds: 0, isAlive: true, isKeepingUp: true })
})

t.test('one that does not move while the log does is dead, and alive again when it has caught up', async (t) => {
  const { log, state, looked } = watched(t)
  await looked()
  log.head = 150n
  await looked()
  t.match(state(), { lag: 50n, isAlive: true, isKeepingUp: true }, 'it is given some time')
  await eventually(() => !state().isAlive)
  t.match(state(), { lag: 50n, isAlive: false, isKeepingUp: false })
  t.ok(state().lagSeconds >= patienceMs / 1000)
  log.position = 150n
  await looked()
  t.match(state(), { lag: 0n, lagSeconds: 0, isAlive: true, isKeepingUp: true })
})

t.test('one that is far behind and comes closer is fine, also while the log grows', async (t) => {
  const { log, state, looked } = watched(t)
  Object.assign(log, { head: 1_000_000n, position: 0n })
  const seen: FeedState[] = []
  const until = performance.now() + 4 * patienceMs
  while (performance.now() < until) {
    log.head += 10n
    log.position += 100n
    await looked()
    seen.push(state())
  }
  t.ok(seen.every(({ isAlive, isKeepingUp }) => isAlive && isKeepingUp))
  t.ok((seen.at(-1)?.lagSeconds ?? 0) * 1000 > patienceMs)
})

t.test('one that moves and falls behind all the same is alive, and does not keep up', async (t) => {
  const { log, state, looked } = watched(t)
  await eventually(async () => {
    log.head += 100n
    log.position += 10n
    await looked()
    return !state().isKeepingUp
  })
  t.match(state(), { isAlive: true })
})

t.test('while nobody can say where the log ends, the last state stands', async (t) => {
  const { log, state, longer } = watched(t)
  await longer()
  const before = state()
  Object.assign(log, { isAway: true, head: 500n })
  await longer()
  t.strictSame(state(), before)
})
