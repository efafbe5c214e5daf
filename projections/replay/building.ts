// What a replay says of the generation that it builds, as long as no other process has taken its place.
import type { Pool } from 'pg'
import { Fenced } from '../../src/subscriptions/checkpoint.js'
import type { Projection } from '../engine/projection.js'
import { checkpointOf } from '../generations/generations.js'

/** A generation that is being built, and the epoch of who builds it. */
export interface Building { projection: Projection, generation: number, epoch: bigint }

/** Records, in words, against what a generation was verified. @throws Fenced */
export async function noteVerified (pool: Pool, building: Building, how: string): Promise<void> {
  await changeBuilding(pool, building, 'verified = $4', how)
}

/** Lets readers be led to it; it holds all that the log held. @throws Fenced */
export async function becomeReady (pool: Pool, building: Building): Promise<void> {
  await changeBuilding(pool, building, 'complete = true, state = $4, changed_at = now()', 'ready')
}

/** A generation that was dropped may have left its number to another one, which only its own builder changes. */
async function changeBuilding (
  pool: Pool, { projection, generation, epoch }: Building, change: string, value: string
): Promise<void> {
  const { rowCount } = await pool.query(`
    UPDATE ledger.generations SET ${change} WHERE projection = $1 AND generation = $2 AND state = 'building'
      AND EXISTS (SELECT FROM ${checkpointOf(projection, generation)} WHERE epoch = $3)`,
  [projection.name, generation, epoch, value])
  if (rowCount !== 1) throw new Fenced(`generation ${generation} of ${projection.name} is no longer being built by this process`)
}
