// Leases of one process are renewed together, and one dead connection loses none of them.
import t, { type Test } from 'tap'
import type { Pool } from 'pg'
import { wheneverLeased } from '../../src/subscriptions/lease.js'
import { eventually } from '../support/eventually.js'
import { scratchLedger } from '../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)

/** The pool, where each statement that renews passes `on` first. */
function watching (on: (nth: number) => Promise<void> | void): Pool {
  let nth = 0
  return new Proxy(pool, {
    get (target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'query' || typeof value !== 'function') return value
      return async (...given: [{ name?: string }, ...unknown[]]): Promise<unknown> => {
        if (given[0]?.name === 'renew-leases') await on(nth++)
        return await Reflect.apply(value, target, given)
      }
    }
  })
}

function holdFive (t: Test, on: Pool, prefix: string) {
  const stopping = new AbortController()
  t.teardown(() => stopping.abort())
  let [held, lost] = [0, 0]
  const running = Array.from({ length: 5 }, async (_, n) => {
    const lease = { pool: on, name: `${prefix} ${n}`, holder: 'test', signal: stopping.signal }
    await wheneverLeased(lease, async ({ signal }) => {
      held += 1
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      if (!stopping.signal.aborted) lost += 1
    })
  })
  const stop = async () => {
    stopping.abort()
    await Promise.all(running)
  }
  return { held: () => held, lost: () => lost, stop }
}

t.test('five leases are renewed by one statement a second', async (t) => {
  let renewals = 0
  const five = holdFive(t, watching(() => { renewals += 1 }), 'together')
  await eventually(() => five.held() === 5)
  const from = performance.now()
  await eventually(() => renewals >= 4)
  t.ok(performance.now() - from > 2_000, 'no more than one of a beat')
  t.equal(five.lost(), 0)
  await five.stop()
})

t.test('a statement that is never answered loses no lease: the next beat asks on another connection', async (t) => {
  let renewals = 0
  const five = holdFive(t, watching((nth) => {
    renewals = nth + 1
    return nth === 1 ? new Promise<void>(() => {}) : undefined
  }), 'dead')
  await eventually(() => renewals >= 7)
  t.equal(five.lost(), 0, 'though more time has passed than a lease lasts')
  t.equal(five.held(), 5)
  await five.stop()
})
