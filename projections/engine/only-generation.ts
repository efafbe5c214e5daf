// Whether rows of a person are in no other generation than in the one that was looked through for them.
import { DatabaseError, type Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Projection } from './projection.js'
import { drop } from './operations.js'
import { checkpointOf, generationsOf, isFed, leaseOf, schemaOf, type Generation } from './generations.js'
import { ReplayRefused } from './refused.js'

export interface LookedThrough {
  /** The generation that readers saw. */
  generation: number
  /** Up to which all of them have to have come. */
  position: bigint
  /** SQL for the keys of the person's rows in a schema, and its parameters. */
  keysIn (schema: string): string
  values: unknown[]
  signal: AbortSignal
}

/**
 * Other generations that are fed follow the log, too, and so will one of a replay that is under way. A generation that
 * still has data of the person was built while it could be read, and is dropped. So is a generation that nobody feeds:
 * one of other code that was kept to go back to, one of a replay that broke off, and one whose drop broke off.
 * @returns false while one of them is behind, or not dropped yet: look again. Nothing when readers see another
 * generation by now: look through that one
 */
export async function isOnlyGeneration (
  pool: Pool, projection: Projection, looked: LookedThrough
): Promise<boolean | undefined> {
  const generations = await generationsOf(pool, projection)
  const active = generations.find(({ state }) => state === 'active')?.generation
  if (active !== looked.generation) return undefined
  let isOnly = true
  for (const each of generations.filter(({ generation }) => generation !== active)) {
    const found = each.state === 'dropping' || await hasMore(pool, projection, each, looked)
    if (found === false) continue
    const isDropped = found === true && await tryToDrop(pool, projection, each, looked.signal)
    isOnly &&= isDropped
  }
  return isOnly
}

/** Nothing while that cannot be said. */
async function hasMore (
  pool: Pool, projection: Projection, each: Generation, { generation, position, keysIn, values }: LookedThrough
): Promise<boolean | undefined> {
  if (!await hasPassed(pool, projection, each, position)) return await isLeft(pool, projection, each) || undefined
  const [kept, seen] = [schemaOf(projection, each.generation), schemaOf(projection, generation)]
  const { rows: [found] } = await pool.query<{ has_more: boolean, is_ahead: boolean }>(`
    SELECT EXISTS (${keysIn(kept)} EXCEPT ${keysIn(seen)}) AS has_more, kept.position > seen.position AS is_ahead
    FROM ${kept}.checkpoint kept CROSS JOIN ${seen}.checkpoint seen`, values).catch(otherColumns)
  if (!found?.has_more) return found && false
  return found.is_ahead ? undefined : true // what came just now is in both, soon
}

const undefinedColumn = '42703'

/** Of other code. */
function otherColumns (error: unknown) {
  if (!(error instanceof DatabaseError) || error.code !== undefinedColumn) throw error
  return { rows: [{ has_more: true, is_ahead: false }] }
}

/** @returns false while it is built, or when it was swapped in meanwhile */
async function tryToDrop (
  pool: Pool, projection: Projection, { generation }: Generation, signal: AbortSignal
): Promise<boolean> {
  try {
    await drop(projection, generation, { pool, signal })
    return true
  } catch (error) {
    if (error instanceof ReplayRefused) return false
    throw error
  }
}

async function hasPassed (
  pool: Pool, projection: Projection, { generation }: Generation, position: bigint
): Promise<boolean> {
  return await readCheckpoint(pool, checkpointOf(projection, generation)).catch(() => -1n) >= position
}

async function isLeft (pool: Pool, projection: Projection, generation: Generation): Promise<boolean> {
  if (isFed(projection, generation)) return false
  return await leaseHolder(pool, leaseOf(projection, generation.generation)) === undefined
}
