// Whether rows of a person are in no other generation than in the active one.
import type { Pool } from 'pg'
import { leaseHolder } from '../../src/subscriptions/lease-row.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Projection } from '../folding/projection.js'
import { drop } from '../replay/drop.js'
import { checkpointOf, generationsOf, isFed, leaseOf, type Generation } from '../generations/generations.js'

/**
 * Other generations that are fed follow the log as the active one does; a replay that is under way will. What nobody
 * feeds any more is dropped: a generation of other code, kept to go back to, and the rest of a replay that broke off.
 * @param position up to which all of them have to have come
 * @returns false while one of them has not: look again
 */
export async function isOnlyGeneration (
  pool: Pool, projection: Projection, position: bigint, signal: AbortSignal
): Promise<boolean> {
  let isOnly = true
  for (const generation of await generationsOf(pool, projection)) {
    if (generation.state === 'active' || await hasPassed(pool, projection, generation, position)) continue
    if (await isLeft(pool, projection, generation)) await drop(projection, generation.generation, { pool, signal })
    else isOnly = false
  }
  return isOnly
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
