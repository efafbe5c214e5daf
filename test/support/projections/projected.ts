// Projections fed straight from a list of events, batch by batch, as their consumer would.
import type { Pool } from 'pg'
import { claimCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { projections } from '../../../projections/index.js'
import { activeGeneration, checkpointOf, ensureProjections, schemaOf } from '../../../projections/engine/generations.js'
import type { Projection } from '../../../projections/engine/projection.js'
import { generationConsumer } from '../../../projections/engine/feed.js'

/** Empty read models, on generation 1. */
export async function emptyReadModels (
  pool: Pool, wanted: readonly Projection[] = projections
): Promise<void> {
  const schemas = wanted.map((projection) => `DROP SCHEMA IF EXISTS ${schemaOf(projection, 1)} CASCADE`)
  await pool.query([...schemas, 'DELETE FROM ledger.generations', 'DELETE FROM ledger.parked_events'].join('; '))
  await ensureProjections(pool, wanted)
}

export interface Feed {
  /** Projects the events of the projection's types as one batch. */
  batch (events: StoredEvent[]): Promise<void>
}

/** A consumer as it is after a start. */
export async function feeding (projection: Projection, pool: Pool, epoch = 1n): Promise<Feed> {
  const opened = await generationConsumer(projection, await activeGeneration(pool, projection), pool).open()
  let { position: from } = await claimCheckpoint(pool, opened.checkpointTable, epoch)
  return {
    async batch (events) {
      const position = events.at(-1)?.position ?? from
      const wanted = events.filter(({ type }) => projection.eventTypes.some((known) => known === type))
      await opened.write({ events: wanted, position }, from, epoch)
      from = position
    }
  }
}

/** Projects all events into every read model. */
export async function project (pool: Pool, events: StoredEvent[]): Promise<void> {
  for (const projection of projections) await (await feeding(projection, pool)).batch(events)
}

/** The rows of the active generation's table by key, with times in ISO 8601. */
export async function rowsOf (
  pool: Pool, projection: Projection, name = projection.name
): Promise<Map<unknown, Record<string, unknown>>> {
  const table = projection.tables.find((known) => known.name === name)
  if (!table) throw new Error(`${projection.name} has no table ${name}`)
  const schema = schemaOf(projection, await activeGeneration(pool, projection))
  const { rows } = await pool.query<{ row: Record<string, unknown> }>(
    `SELECT row_to_json(t) AS row FROM ${schema}.${name} t ORDER BY "${table.key}"`
  )
  const times = Object.entries(table.columns).filter(([, type]) => type === 'timestamptz').map(([column]) => column)
  return new Map(rows.map(({ row }) => [row[table.key], {
    ...row, ...Object.fromEntries(times.map((column) => [column, isoOrNull(row[column])]))
  }]))
}

const isoOrNull = (time: unknown) => time === null ? null : new Date(String(time)).toISOString()

export interface Parked { stream: string, revision: number, error: string }

/** What the projection's active generation has parked, oldest first. */
export async function parkedEvents (pool: Pool, projection: Projection): Promise<Parked[]> {
  const consumer = checkpointOf(projection, await activeGeneration(pool, projection)).split('.')[0]
  const { rows } = await pool.query<Parked>(`
    SELECT stream, revision::int, error FROM ledger.parked_events
    WHERE consumer = $1 ORDER BY position`, [consumer])
  return rows
}
