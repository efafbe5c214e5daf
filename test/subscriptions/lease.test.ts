// One owner of many, and another within five seconds when it dies.
import t from 'tap'
import type { Pool } from 'pg'
import { claimCheckpoint, checkpointTable, Fenced, readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { withLease, wheneverLeased, type Lease } from '../../src/subscriptions/lease.js'
import { openPool } from '../../src/postgres/pool.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { eventually } from '../support/eventually.js'
import { moveCheckpoint } from './consuming.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'

const { postgres, databaseUrl, pool } = await scratchLedger(t)

/** Somebody who wants the lease: which leases it got, and a way to stop it. */
function contender (name: string, own = pool, yields = false) {
  const stopping = new AbortController()
  const owned: { lease: Lease, from: number }[] = []
  const ended = wheneverLeased({ pool: own, name, holder: 'test', yields, signal: stopping.signal }, async (lease) => {
    owned.push({ lease, from: Date.now() })
    await new Promise((resolve) => lease.signal.addEventListener('abort', resolve))
  })
  return {
    owned,
    ended,
    stop () {
      stopping.abort()
      return ended
    }
  }
}

t.test('one of several owns a lease, and the next one takes over when it lets go, with a higher epoch', async (t) => {
  const contenders = Array.from({ length: 3 }, () => contender('handed over'))
  await eventually(() => contenders.some(({ owned }) => owned.length > 0))
  const epochs: bigint[] = []
  for (let left = 3; left > 0; left -= 1) {
    const owner =
      await eventually(() => contenders.find(({ owned }) => owned.some(({ lease }) => !lease.signal.aborted)) ?? false)
    t.equal(contenders.filter(({ owned }) => owned.some(({ lease }) => !lease.signal.aborted)).length, 1)
    epochs.push(owner.owned[0]?.lease.epoch ?? 0n)
    await owner.stop()
  }
  t.strictSame(epochs, [1n, 2n, 3n])
})

t.test('a holder that dies without a release is replaced within five seconds, and stops before that', async (t) => {
  const proxy = await tcpProxy(t, Number(new URL(postgres.url).port))
  const farPool = openPool(databaseUrl.replace(/:\d+\//, `:${proxy.port}/`), {
    applicationName: 'frozen', onError: () => {}
  })
  const frozen = contender('frozen', farPool)
  await eventually(() => frozen.owned.length === 1)
  const next = contender('frozen')
  proxy.freeze()
  const frozenAt = Date.now()
  let knewAt = Infinity
  frozen.owned[0]?.lease.signal.addEventListener('abort', () => { knewAt = Date.now() })
  await eventually(() => next.owned.length === 1)
  const [second] = next.owned
  t.equal(second?.lease.epoch, 2n)
  t.ok((second?.from ?? Infinity) - frozenAt < 7_000, `after ${(second?.from ?? 0) - frozenAt} ms`)
  t.ok(knewAt <= (second?.from ?? 0) + 200, 'the former owner noticed alone')
  await next.stop()
  await proxy.close()
  await frozen.stop()
  await farPool.end()
})

t.test('a later holder’s claim fences former ones off: neither rows nor checkpoint', async (t) => {
  await pool.query(`CREATE TABLE fenced_rows (n integer); ${checkpointTable('fenced')}`)
  const write = (epoch: bigint, from: bigint, to: bigint) => inTransaction(pool, async (tx) => {
    await tx.query('INSERT INTO fenced_rows VALUES ($1)', [to])
    await moveCheckpoint(tx, 'fenced', { epoch, from, to })
  })
  t.match(await claimCheckpoint(pool, 'fenced', 1n), { position: 0n })
  await write(1n, 0n, 10n)
  t.match(await claimCheckpoint(pool, 'fenced', 2n), { position: 10n })
  await t.rejects(write(1n, 10n, 20n), Fenced)
  await t.rejects(claimCheckpoint(pool, 'fenced', 1n), Fenced)
  await t.rejects(write(2n, 0n, 20n), Fenced, 'nor may the owner move it from where it is not')
  await write(2n, 10n, 30n)
  t.equal(await readCheckpoint(pool, 'fenced'), 30n)
  t.strictSame((await pool.query('SELECT n FROM fenced_rows')).rows, [{ n: 10 }, { n: 30 }])
})

t.test('a holder that yields gives way at once to one that does not, and takes over from nobody', async (t) => {
  const filling = contender('yielded', pool, true)
  await eventually(() => filling.owned.length === 1)
  const other = contender('yielded', pool, true)
  const owner = contender('yielded')
  await eventually(() => owner.owned.length === 1)
  t.equal(owner.owned[0]?.lease.epoch, 2n)
  await eventually(() => filling.owned[0]?.lease.signal.aborted === true)
  t.equal(other.owned.length, 0)
  t.equal(filling.owned.length, 1)
  await owner.stop()
  await eventually(() => filling.owned.length + other.owned.length === 2)
  await Promise.all([filling.stop(), other.stop()])
})

t.test('a lease that is wanted once is waited for while its holder may be dead, and refused while it lives', async (t) => {
  const signal = new AbortController().signal
  const own = () => withLease({ pool, name: 'once', holder: 'another', signal }, async ({ epoch }) => epoch)
  const owner = contender('once')
  await eventually(() => owner.owned.length === 1)
  await t.rejects(own(), { name: 'LeaseHeld', holder: 'test' })
  await owner.stop()
  t.equal(await own(), 2n)
  await pool.query(`
    UPDATE ledger.leases SET expires_at = clock_timestamp() + interval '1 s', holder = 'dead'
    WHERE name = 'once'`)
  t.equal(await own(), 3n)
})

t.test('who stops while it acquires a lease begins no work, and gives the lease back', async (t) => {
  const query = async (...given: unknown[]): Promise<unknown> => {
    const answer = await Reflect.apply(pool.query, pool, given)
    void late.stop()
    return answer
  }
  const late = contender('stopped', Object.assign(Object.create(pool), { query }))
  await late.ended
  t.strictSame(late.owned, [])
  const next = contender('stopped')
  await eventually(() => next.owned.length === 1, 2_000)
  await next.stop()
})

/** The pool, where each statement that renews passes `on` first. */
function watching (on: (nth: number) => Promise<void> | void): Pool {
  let nth = 0
  const query = async (...given: [{ name?: string }, ...unknown[]]): Promise<unknown> => {
    if (given[0]?.name === 'renew-leases') await on(nth++)
    return await Reflect.apply(pool.query, pool, given)
  }
  return Object.assign(Object.create(pool), { query })
}

t.test('a statement that is never answered loses no lease: the next beat asks on another connection', async (t) => {
  const stopping = new AbortController()
  let [renewals, lost] = [0, 0]
  const watched = watching((nth) => {
    renewals = nth + 1
    return nth === 1 ? new Promise<void>(() => {}) : undefined
  })
  const times = { renewEvery: 200, expiresAfter: 800, tryEvery: 100 }
  const running = [1, 2].map((n) => wheneverLeased(
    { pool: watched, name: `dead ${n}`, holder: 'test', signal: stopping.signal, times }, async ({ signal }) => {
      await new Promise((resolve) => { signal.addEventListener('abort', resolve) })
      if (!stopping.signal.aborted) lost += 1
    }))
  await eventually(() => renewals >= 7)
  t.equal(lost, 0, 'though more time has passed than a lease lasts')
  stopping.abort()
  await Promise.all(running)
})
