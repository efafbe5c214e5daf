// Lets readers wait until a projection has passed a position of the log.
import type { Pool } from 'pg'
import { listenForCheckpoints } from './checkpoint-listener.js'
import { activeCheckpoint } from '../replay/views.js'

export interface Positions {
  /** True as soon as readers see `projection` at `position` or later; false when `withinMs` is over first. */
  reached (projection: string, position: bigint, withinMs: number): Promise<boolean>
  /** A position that readers of `projection` are past already: never ahead of what a query that starts now can see. */
  passed (projection: string): Promise<bigint>
  close (): Promise<void>
}

interface Waiter { position: bigint, until: number, settle (reached: boolean): void }

/** The position that readers of one projection can see, as far as this process knows, and the calls that wait for more. */
interface Sight { passed: bigint, waiters: Set<Waiter>, looking?: Promise<bigint> | undefined, lookedAt: number }

const nowhere = -1n
/** One clock serves all waiting calls; deadlines are exact to this. */
const tickMs = 20
const pollMs = 100
/** A look that takes longer is given up: the next one takes another connection. */
const lookWithinMs = 2_000
const heartbeatEveryMs = 15_000

/**
 * Learns positions from notifications. A notification can be lost, so while calls wait for a projection its checkpoint
 * is also looked up every 100 ms, once for all of them: a lost connection delays an answer and does not prevent it.
 */
export function listenForPositions (databaseUrl: string, pool: Pool, onError: (error: Error) => void, heartbeatMs = heartbeatEveryMs): Positions {
  const sights = new Map<string, Sight>()
  let clock: NodeJS.Timeout | undefined
  let isBlind = false
  const listener = listenForCheckpoints({
    databaseUrl,
    onError,
    heartbeatMs,
    onCheckpoint: (projection, position) => advance(sightOf(projection), position),
    onListening: () => { for (const sight of sights.values()) sight.passed = nowhere }
  })

  return {
    async reached (projection, position, withinMs) {
      const sight = sightOf(projection)
      if (sight.passed >= position) return true
      if (sight.passed === nowhere) poll(projection, sight)
      return await new Promise((resolve) => {
        sight.waiters.add({ position, until: performance.now() + withinMs, settle: resolve })
        clock ??= setInterval(tick, tickMs)
      })
    },
    async passed (projection) {
      const sight = sightOf(projection)
      return listener.isListening() && sight.passed !== nowhere ? sight.passed : await look(projection, sight)
    },
    async close () {
      clearInterval(clock)
      for (const sight of sights.values()) settle(sight, () => false)
      await listener.close()
    }
  }

  function sightOf (projection: string): Sight {
    const sight = sights.get(projection) ?? { passed: nowhere, waiters: new Set(), lookedAt: -Infinity }
    sights.set(projection, sight)
    return sight
  }

  function tick (): void {
    const now = performance.now()
    let isAwaited = false
    for (const [projection, sight] of sights) {
      settle(sight, ({ until }) => until <= now ? false : undefined)
      if (sight.waiters.size === 0) continue
      isAwaited = true
      if (now - sight.lookedAt >= pollMs) poll(projection, sight)
    }
    if (isAwaited) return
    clearInterval(clock)
    clock = undefined
  }

  /** Reports the first of several failures in a row. */
  function poll (projection: string, sight: Sight): void {
    look(projection, sight).then(() => { isBlind = false }, (error: Error) => {
      if (!isBlind) onError(error)
      isBlind = true
    })
  }

  /** Concurrent look-ups of one projection share one query. */
  function look (projection: string, sight: Sight): Promise<bigint> {
    sight.lookedAt = performance.now()
    sight.looking ??= readCheckpoint(pool, projection).then((position) => {
      advance(sight, position)
      return position
    }).finally(() => { sight.looking = undefined })
    return sight.looking
  }
}

function advance (sight: Sight, position: bigint): void {
  if (position <= sight.passed) return
  sight.passed = position
  settle(sight, (waiter) => waiter.position <= position ? true : undefined)
}

/** Ends the waiting of those that `outcome` is known of. */
function settle ({ waiters }: Sight, outcome: (waiter: Waiter) => boolean | undefined): void {
  for (const waiter of waiters) {
    const reached = outcome(waiter)
    if (reached === undefined) continue
    waiters.delete(waiter)
    waiter.settle(reached)
  }
}

async function readCheckpoint (pool: Pool, projection: string): Promise<bigint> {
  const question = { text: `SELECT position FROM ${activeCheckpoint(projection)}`, query_timeout: lookWithinMs }
  const { rows } = await pool.query<{ position: string }>(question)
  return BigInt(rows[0]?.position ?? 0)
}
