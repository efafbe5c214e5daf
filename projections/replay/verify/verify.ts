// Verifies a generation: against the one that readers see when the same code folded both, else against the log.
import { randomInt } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../../../src/log/event-log.js'
import { inSnapshot } from '../../../src/postgres/transaction.js'
import { checkpointOf, schemaOf } from '../../generations/generations.js'
import type { Projection } from '../../engine/projection.js'
import { loadSkipped, type Skipped } from '../../parking/park.js'
import { columnsOf, namesOf, relation, type AnyTable, type Key } from '../../engine/table.js'
import { compareGenerations } from './compare.js'
import { asText, byKey, differing, type Difference, type TextRow } from './difference.js'
import { Sample, type SampleSize } from './sample.js'
import { foldSample } from './sample-fold.js'

export interface Verified {
  /** Against what, in words. */
  how: string
  /** What the two sides are called. */
  found: string
  expected: string
  rows: number
  /** Ten at most. */
  differences: Difference[]
}

/** Rows of each table, unless another number is given. */
export const usualSample = 1_000
const mostDifferences = 10

/**
 * Compares every row of `next` with the `active` generation, whose rows and position one snapshot holds meanwhile.
 * @param level brings `next` to that position exactly
 */
export async function verifyAgainstActive (
  projection: Projection, { active, next }: { active: number, next: number }, pool: Pool,
  level: (position: bigint) => Promise<void>
): Promise<Verified> {
  return await inSnapshot(pool, async (snapshot) => {
    const position = await positionIn(snapshot, checkpointOf(projection, active))
    await level(position)
    const sides = { found: { db: snapshot, generation: active }, expected: { db: pool, generation: next } }
    return {
      how: `all rows of generation ${active} at position ${position}`,
      found: `generation ${active}`,
      expected: `generation ${next}`,
      ...await compareGenerations(projection, sides, mostDifferences)
    }
  })
}

export interface LogOptions {
  pool: Pool
  streams: Streams
  signal: AbortSignal
  onProgress? (events: number, done: number): void
}

/**
 * Compares a sample of the generation's rows with what the log gives, at the position where the generation is now.
 */
export async function verifyAgainstLog (
  projection: Projection, generation: number,
  { rows = usualSample, seed = randomInt(2 ** 31) }: Partial<SampleSize>, options: LogOptions
): Promise<Verified> {
  const schema = schemaOf(projection, generation)
  const sampled = await inSnapshot(options.pool, (snapshot) => sampleRows(snapshot, projection, schema, { rows, seed }))
  const { sample, found, position } = sampled
  const sizes = (table: AnyTable, keys: Key[]) => sizesOf(options.pool, schema, table, keys)
  const folded = await foldSample(projection, sample, position, { ...options, ...sampled, sizes })
  const differences: Difference[] = []
  let count = 0
  for (const table of projection.tables) {
    const ours = found.get(table)
    const expected = await asStored(options.pool, table, folded.rows.get(table) ?? [])
    const sampled = [...ours?.keys() ?? []].filter((key) => folded.has(table, keyIn(table, key)))
    const keys = new Set([...sampled, ...expected.keys()])
    count += keys.size
    for (const key of keys) differences.push(...differing(table, key, ours?.get(key), expected.get(key)))
  }
  return {
    how: `${count} rows folded from the log to position ${position} (seed ${seed})`,
    found: `generation ${generation}`,
    expected: 'the log',
    rows: count,
    differences: differences.slice(0, mostDifferences)
  }
}

async function sampleRows (snapshot: PoolClient, projection: Projection, schema: string, size: SampleSize) {
  const sample = await Sample.of(snapshot, schema, projection.tables, size)
  const found = new Map<AnyTable, Map<string, TextRow>>()
  for (const table of projection.tables) found.set(table, await sample.rows(snapshot, schema, table))
  return {
    sample,
    found,
    position: await positionIn(snapshot, `${schema}.checkpoint`),
    passedOver: await passedOver(snapshot, projection, schema)
  }
}

/** A key as rows in memory have it. */
const keyIn = ({ columns, key }: AnyTable, text: string): Key => columns[key] === 'bigint' ? Number(text) : text

async function sizesOf (
  pool: Pool, schema: string, { name, key, columns }: AnyTable, keys: Key[]
): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ key: string, bytes: number }>(`
    SELECT "${key}"::text AS key, octet_length(t::text) AS bytes FROM ${schema}.${name} t
    WHERE "${key}" = ANY($1::${columns[key]}[])`, [keys])
  return new Map(rows.map(({ key, bytes }) => [key, bytes]))
}

/** Rows as they come out of a table after they went in. */
async function asStored (pool: Pool, table: AnyTable, rows: object[]): Promise<Map<string, TextRow>> {
  const { rows: stored } = await pool.query<TextRow>(
    `SELECT ${asText(table)} FROM ${relation(table)} AS stored (${namesOf(table.columns)})`, columnsOf(table, rows))
  return byKey(table, stored)
}

/** What operators have given up, and what is parked. */
async function passedOver (db: PoolClient, projection: Projection, schema: string): Promise<Skipped> {
  const skipped = await loadSkipped(db, projection.name)
  const { rows } = await db.query<{ event: string }>(
    "SELECT revision || '@' || stream AS event FROM ledger.parked_events WHERE consumer = $1", [schema])
  const waiting = new Set(rows.map(({ event }) => event))
  return { has: (stored) => skipped.has(stored) || waiting.has(`${stored.revision}@${stored.stream}`) }
}

async function positionIn (db: PoolClient, checkpoint: string): Promise<bigint> {
  const { rows: [row] } = await db.query<{ position: string }>(`SELECT position FROM ${checkpoint}`)
  return BigInt(row?.position ?? 0)
}
