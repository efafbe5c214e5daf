// Leads readers from one generation to another in an instant, and never back in time.
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError, type Pool, type PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { changeState, checkpointOf, schemaOf, notifyReaders, pointReaders } from './generations.js'
import type { Projection } from './projection.js'

interface Swap { from: number, to: number }

/** For so long the present generation may be held while the next one comes level, in milliseconds. */
const levelWithinMs = 250
/** For so long readers may be held up by a swap that waits for one of them, in milliseconds. */
const readersWaitMs = 100
/** For so long a batch in flight is waited for, in milliseconds. */
const batchWithinMs = 1_000

/** Not now: nothing was changed, and it can be tried again. */
class NotYet extends Error {}

/**
 * Makes `to` the generation that readers see, if it is `ready` and comes level with the active `from` at once. Both
 * are fed meanwhile, by this process or others; `from` is retained.
 * @returns false when it has to be tried again
 */
export async function swap (projection: Projection, { from, to }: Swap, pool: Pool): Promise<boolean> {
  if (!await isClose(projection, { from, to }, pool)) return false
  try {
    await inTransaction(pool, async (tx) => {
      await holdLevel(tx, projection, { from, to })
      const isDue = await changeState(tx, projection, from, 'active', 'retained') &&
        await changeState(tx, projection, to, 'ready', 'active')
      if (!isDue) throw new NotYet()
      await waitAtMost(tx, readersWaitMs)
      await pointReaders(tx, projection, schemaOf(projection, to))
      await notifyReaders(tx, projection, to, await positionOf(tx, projection, to))
    })
    return true
  } catch (error) {
    if (error instanceof NotYet || isLockProblem(error)) return false
    throw error
  }
}

const lockNotAvailable = '55P03'
const deadlockDetected = '40P01'

const isLockProblem = (error: unknown) => error instanceof DatabaseError &&
  (error.code === lockNotAvailable || error.code === deadlockDetected)

/**
 * Whether `to` comes to where `from` is now. Read without holding anything, so that `from` is held only when `to` is
 * close.
 */
async function isClose (projection: Projection, { from, to }: Swap, pool: Pool): Promise<boolean> {
  const mark = await positionOf(pool, projection, from)
  return await within(batchWithinMs, async () => await positionOf(pool, projection, to) >= mark)
}

/** Holds both checkpoints, that of `to` at or past that of `from`. @throws NotYet */
async function holdLevel (tx: PoolClient, projection: Projection, { from, to }: Swap): Promise<void> {
  await waitAtMost(tx, batchWithinMs)
  const present = await holdCheckpoint(tx, projection, from)
  if (!await within(levelWithinMs, async () => await positionOf(tx, projection, to) >= present)) throw new NotYet()
  const next = await holdCheckpoint(tx, projection, to)
  if (next < present) throw new NotYet()
}

/** The process that feeds the generation waits from now on, until the transaction ends. */
async function holdCheckpoint (tx: PoolClient, projection: Projection, generation: number): Promise<bigint> {
  return (await touchCheckpoint(tx, checkpointOf(projection, generation))).position
}

async function positionOf (db: Pool | PoolClient, projection: Projection, generation: number): Promise<bigint> {
  const { rows: [row] } = await db.query<{ position: string }>(
    `SELECT position FROM ${checkpointOf(projection, generation)}`)
  return BigInt(row?.position ?? 0)
}

/** Less than Postgres waits before it looks for deadlocks: so it is the swap that gives way, and never a reader. */
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
