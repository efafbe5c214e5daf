// Replays a projection: builds a new generation beside the one that readers see, then swaps.
import type { Pool } from 'pg'
import { moveCheckpoint } from '../src/consumer/checkpoint.js'
import type { Streams } from '../src/event-store/streams.js'
import { inTransaction } from '../src/postgres/transaction.js'
import { batchWriter } from './batch-writer.js'
import { activate, activeGeneration, checkpointOf, createGeneration, schemaOf } from './generations.js'
import type { Projection } from './projection.js'

export interface ReplayOptions {
  pool: Pool
  streams: Streams
  signal: AbortSignal
  /** Positions of the log: how far the new generation is, and where the log ends. */
  onProgress (progress: { events: number, position: bigint, head: bigint }): void
}

/** No projector writes to a generation that is being built. */
const builderEpoch = 0n

/**
 * Builds the next generation of `projection` from the start of the log and makes it the one that readers see, in
 * one short transaction, once it is as far as the present one. The running projector is fenced off by it and goes
 * on with the new generation. Leftovers of a replay that did not end are dropped first.
 * @returns the generation that readers see now and the number of events it was built from
 */
export async function replay (projection: Projection, { pool, streams, signal, onProgress }: ReplayOptions): Promise<{ generation: number, events: number }> {
  const current = await activeGeneration(pool, projection)
  const generation = current + 1
  await inTransaction(pool, async (tx) => {
    await tx.query(`DROP SCHEMA IF EXISTS ${schemaOf(projection, generation)} CASCADE`)
    await tx.query('DELETE FROM ledger.quarantine WHERE consumer = $1', [schemaOf(projection, generation)])
    await createGeneration(tx, projection, generation)
  })
  const write = await batchWriter(projection, pool, generation)
  let position = 0n
  let events = 0
  if (await streams.head() === 0n && await swap(pool, projection, current)) return { generation, events }
  for await (const batch of streams.follow({ after: 0n, eventTypes: projection.eventTypes, signal })) {
    await inTransaction(pool, async (tx) => {
      await write(tx, batch)
      await moveCheckpoint(tx, checkpointOf(projection, generation), builderEpoch, position, batch.position)
    })
    position = batch.position
    events += batch.events.length
    onProgress({ events, position, head: await streams.head() })
    if (await swap(pool, projection, current)) return { generation, events }
  }
  throw new Error(`the replay of ${projection.name} was stopped before the swap; readers still see generation ${current}`)
}

/** Swaps when the new generation is level; false when it has to go on. */
async function swap (pool: Pool, projection: Projection, current: number): Promise<boolean> {
  const [old, next] = [checkpointOf(projection, current), checkpointOf(projection, current + 1)]
  const isLevel = `SELECT (SELECT position FROM ${next}) >= (SELECT position FROM ${old}) AS level`
  const { rows: [before] } = await pool.query<{ level: boolean }>(isLevel)
  if (!before?.level) return false
  return await inTransaction(pool, async (tx) => {
    await tx.query(`UPDATE ${old} SET epoch = epoch + 1`) // holds and then fences the running projector
    const { rows: [now] } = await tx.query<{ level: boolean }>(isLevel)
    if (!now?.level) throw new NotLevel()
    await activate(tx, projection, current + 1)
    return true
  }).then(async () => {
    await pool.query(`DROP SCHEMA ${schemaOf(projection, current)} CASCADE`)
    await pool.query('DELETE FROM ledger.quarantine WHERE consumer = $1', [schemaOf(projection, current)])
    return true
  }).catch((error: unknown) => {
    if (error instanceof NotLevel) return false
    throw error
  })
}

/** The projector was faster between the look and the lock; rolling back gives its checkpoint back. */
class NotLevel extends Error {}
