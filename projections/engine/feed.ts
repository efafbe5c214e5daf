// Feeds the generations that this release can fold, and swaps readers from one generation to the next.
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { type Consumer, type Log, runSubscription, type RunOptions } from '../../src/subscriptions/run.js'
import {
  activeOf, allGenerations, changeState, checkpointChannel, checkpointOf, generationsChannel, generationsOf, isFed,
  leaseOf, pointReaders, schemaOf, type Generation, type OfProjection
} from './generations.js'
import { CircuitBreaker } from './circuit-breaker.js'
import type { Projection } from './projection.js'
import { Writer } from './writer.js'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import type { Notifications } from '../../src/postgres/notifications.js'
import { pause } from '../../src/timing.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { readCheckpoint, touchCheckpoint } from '../../src/subscriptions/checkpoint.js'

export function generationConsumer (projection: Projection, generation: number, pool: Pool, log?: Log): Consumer {
  return {
    name: leaseOf(projection, generation),
    eventTypes: projection.eventTypes,
    isDeferred: projection.isDeferred,
    async open () {
      const found = (await generationsOf(pool, projection)).find((each) => each.generation === generation)
      const breaker = new CircuitBreaker(pool, projection, generation, found?.breaker)
      const writer = new Writer(projection, generation, pool, { refuse: breaker.refuse.bind(breaker) })
      const visibleFrom = BigInt(found?.visibleFrom ?? 0)
      let [events, toldAt] = [0, performance.now()]
      return {
        checkpointTable: checkpointOf(projection, generation),
        async write (batch, from, epoch) {
          await writer.write(batch, from, epoch)
          await breaker.passed(batch.position)
          events += batch.events.length
          if (batch.position >= visibleFrom || performance.now() - toldAt < tellEveryMs) return
          toldAt = performance.now()
          const percent = Number(100n * batch.position / visibleFrom)
          log?.info({ projection: projection.name, events, percent }, 'a read model is being filled')
        }
      }
    }
  }
}

const tellEveryMs = 10_000

export interface FeedOptions extends RunOptions {
  /** Triggers a check when a generation changes. Without it, checks are more frequent. */
  notifications?: Notifications | undefined
  /** Milliseconds between two checks of which generations exist. */
  checkEveryMs?: number | undefined
}

/** A notification may be lost. */
const notifiedCheckEveryMs = 10_000
const usualCheckEveryMs = 1_000
/** While a generation is ready to be swapped in. */
const swapEveryMs = 200

/**
 * Runs until `options.signal` is aborted, and never gives up. It leaves generations of other code versions alone, as
 * their rows would become a mixture. With `yields` it stands in for a projector: it gives its leases up to one, and
 * swaps only while no projector runs.
 */
export async function feedGenerations (projections: readonly Projection[], options: FeedOptions): Promise<void> {
  const { pool, signal, log, notifications } = options
  const { checkEveryMs = notifications ? notifiedCheckEveryMs : usualCheckEveryMs } = options
  const fed = new Map<string, { stop: AbortController, running: Promise<void> }>()
  let waiting = new AbortController()
  const lookNow = () => waiting.abort()
  const listener = notifications?.listen(generationsChannel, { onNotification: lookNow, onListening: lookNow })
  let isFailing = false
  while (!signal.aborted) {
    waiting = new AbortController()
    let everyMs = checkEveryMs
    try {
      const all = await allGenerations(pool, projections)
      feedOnly(all.filter((each) => isFed(each.projection, each)))
      if (all.some(({ state }) => state === 'ready')) everyMs = Math.min(swapEveryMs, checkEveryMs)
      for (const projection of projections) {
        await swapIfDue(projection, all.filter((each) => each.projection === projection), options)
      }
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'the generations could not be read, trying again')
      isFailing = true
      everyMs = Math.min(usualCheckEveryMs, checkEveryMs)
    }
    await pause(everyMs, AbortSignal.any([signal, waiting.signal]))
  }
  listener?.close()
  await Promise.all([...fed.values()].map(({ running }) => running))

  function feedOnly (generations: OfProjection[]): void {
    const wanted = new Map(generations.map((each) => [leaseOf(each.projection, each.generation), each]))
    for (const [name, { stop }] of fed) if (!wanted.has(name)) stop.abort()
    for (const [name, { projection, generation }] of wanted) {
      if (fed.has(name)) continue
      const stop = new AbortController()
      const running = runSubscription(generationConsumer(projection, generation, pool, log), {
        ...options, signal: AbortSignal.any([signal, stop.signal])
      }).finally(() => {
        fed.delete(name)
        lookNow() // it may be wanted again by now
      })
      fed.set(name, { stop, running })
    }
  }
}

/** Only the process that feeds the next generation swaps it in, so that feeding goes on without a pause. */
async function swapIfDue (
  projection: Projection, generations: Generation[], { pool, holder, yields, log }: RunOptions
): Promise<void> {
  const active = activeOf(generations)
  const ready = generations.find(({ state }) => state === 'ready')
  if (!active || ready?.codeVersion !== projection.version) return
  const holderOf = ({ generation }: Generation) => leaseHolder(pool, leaseOf(projection, generation))
  const [feeder, projector] = await Promise.all([holderOf(ready), holderOf(active)])
  if (feeder !== holder || (yields && projector !== undefined && projector !== holder)) return
  const change = { from: active.generation, to: ready.generation }
  if (!await swap(projection, change, pool)) return
  log.info({ projection: projection.name, ...change }, 'readers see another generation')
}

interface Swap { from: number, to: number }

/** Longest lock on the active generation while the next one catches up. */
const levelWithinMs = 250
/** Longest delay of readers by a swap that waits for one of them. */
const readersWaitMs = 100
/** Longest wait for a batch in flight. */
const batchWithinMs = 1_000

/** Nothing was changed, and the swap can be tried again. */
class NotYet extends Error {}

/**
 * Makes `to` the generation that readers see, if it is `ready` and catches up with the active `from` at once, so that
 * readers never go back in time. Some process feeds both meanwhile. `from` becomes `retained`.
 * @returns false if the swap must be tried again
 */
export async function swap (projection: Projection, { from, to }: Swap, pool: Pool): Promise<boolean> {
  const [former, next] = [checkpointOf(projection, from), checkpointOf(projection, to)]
  const isAt = async (db: Pool | PoolClient, mark: bigint) => await readCheckpoint(db, next) >= mark
  // The first wait holds no lock, so `from` is locked only once `to` is close.
  const mark = await readCheckpoint(pool, former)
  if (!await within(batchWithinMs, () => isAt(pool, mark))) return false
  try {
    await inTransaction(pool, async (tx) => {
      await waitAtMost(tx, batchWithinMs)
      const { position: present } = await touchCheckpoint(tx, former) // its feeder waits for our commit
      if (!await within(levelWithinMs, () => isAt(tx, present))) throw new NotYet()
      const { position } = await touchCheckpoint(tx, next)
      const isDue = position >= present && await changeState(tx, projection, from, 'active', 'retained') &&
        await changeState(tx, projection, to, 'ready', 'active')
      if (!isDue) throw new NotYet()
      await waitAtMost(tx, readersWaitMs)
      await pointReaders(tx, projection, schemaOf(projection, to))
      await tx.query("SELECT pg_notify($1, 'replaced')", [checkpointChannel]) // waiting calls look again
    })
    return true
  } catch (error) {
    const isOfLock = error instanceof DatabaseError && lockProblems.includes(error.code)
    if (error instanceof NotYet || isOfLock) return false
    throw error
  }
}

/** lock_not_available and deadlock_detected */
const lockProblems: Array<string | undefined> = ['55P03', '40P01']

/** Stays below half of `deadlock_timeout`, so in a deadlock the swap gives way and never a reader. */
async function waitAtMost (tx: PoolClient, ms: number): Promise<void> {
  await tx.query(`
    SELECT set_config('lock_timeout', least($1, greatest(1, setting::int / 2)) || 'ms', true)
    FROM pg_settings WHERE name = 'deadlock_timeout'`, [ms])
}

async function within (ms: number, isSo: () => Promise<boolean>): Promise<boolean> {
  const giveUpAt = performance.now() + ms
  for (;;) {
    if (await isSo()) return true
    if (performance.now() > giveUpAt) return false
    await delay(5)
  }
}
