// Verifies a generation: against the one that readers see when the same code folded both, else against the log.
import { randomInt, createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../../src/log/event-log.js'
import { inSnapshot } from '../../src/postgres/transaction.js'
import { checkpointOf, schemaOf } from './generations.js'
import type { Projection, RowKey, Rows } from './projection.js'
import { loadSkipped, type Skipped } from './parked.js'
import { columnsOf, namesOf, relation, type AnyTable, type Key, keyOf } from './table.js'
import { compareGenerations, asText, byKey, differing, type Difference, type TextRow } from './compare.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { fold, readEvents, type Readable } from './fold.js'
import { MemoryRows } from './rows.js'

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

/**
 * Compares a sample of the generation's rows with what the log gives, at the position where the generation is now.
 */
export async function verifyAgainstLog (
  projection: Projection, generation: number,
  { rows = usualSample, seed = randomInt(2 ** 31) }: Partial<SampleSize>,
  options: Pick<SampleFoldOptions, 'streams' | 'signal' | 'onProgress'> & { pool: Pool }
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

interface SampleSize {
  /** Of each table, about; fewer of large rows. */
  rows: number
  /** The same seed gives the same sample. */
  seed: number
}

/** A sample takes this many bytes of each table's rows as text: a comparison keeps them in memory several times. */
const mostBytes = 6 * 2 ** 20

const whole = 2 ** 32

export class Sample {
  private constructor (private readonly seed: number, private readonly limits: Map<AnyTable, number>) {}

  /** About as many rows of each table in `schema` as asked for, or all where there are fewer. */
  static async of (
    db: PoolClient, schema: string, tables: readonly AnyTable[], { rows: wanted, seed }: SampleSize
  ): Promise<Sample> {
    const sample = new Sample(seed, new Map())
    for (const table of tables) {
      const { rows: [all] } = await db.query<{ count: string }>(`SELECT count(*) FROM ${schema}.${table.name}`)
      const limit = Math.ceil(whole * Math.min(1, wanted / Math.max(1, Number(all?.count))))
      sample.limits.set(table, limit)
      const bytes = await sample.#bytes(db, schema, table)
      if (bytes > mostBytes) sample.limits.set(table, Math.ceil(limit * mostBytes / bytes))
    }
    return sample
  }

  has (table: AnyTable, key: Key): boolean {
    const limit = this.limits.get(table) ?? 0
    if (limit >= whole) return true
    const hash = createHash('md5').update(this.#salt(table) + String(key)).digest('hex')
    return parseInt(hash.slice(0, 8), 16) < limit
  }

  /** The sampled rows that are in the table, by key. */
  async rows (db: PoolClient, schema: string, table: AnyTable): Promise<Map<string, TextRow>> {
    const { rows } = await db.query<TextRow>(
      `SELECT ${asText(table)} FROM ${schema}.${table.name} WHERE ${isSampled(table)}`, this.#parameters(table))
    return byKey(table, rows)
  }

  async #bytes (db: PoolClient, schema: string, table: AnyTable): Promise<number> {
    const { rows: [found] } = await db.query<{ bytes: string | null }>(
      `SELECT sum(octet_length(t::text)) AS bytes FROM ${schema}.${table.name} t WHERE ${isSampled(table)}`,
      this.#parameters(table))
    return Number(found?.bytes ?? 0)
  }

  #parameters (table: AnyTable): unknown[] {
    return [this.#salt(table), this.limits.get(table)]
  }

  #salt ({ name }: AnyTable): string {
    return `${this.seed} ${name} `
  }
}

const isSampled = ({ key }: AnyTable) => `('x' || left(md5($1 || "${key}"::text), 8))::bit(32)::bigint < $2`

interface SampleFoldOptions {
  streams: Streams
  signal: AbortSignal
  /** Events that the generation has passed over. */
  passedOver: { has (event: StoredEvent): boolean }
  /** The bytes of rows, by key as text; of a row that is not there none. */
  sizes (table: AnyTable, keys: Key[]): Promise<Map<string, number>>
  /** Events that were read, and which part of the work is done, 0 to 1. */
  onProgress? (events: number, done: number): void
}

interface Chosen { has (table: AnyTable, key: Key): boolean }

export interface Folded extends Chosen {
  /** By table. What `has` does not have any more is not among them. */
  rows: Map<AnyTable, object[]>
}

/**
 * The rows of `sample` once the log is folded up to `until`. The log is read twice: first to find the rows that sampled
 * ones depend on (an event that changes a row may read others), then to fold both kinds in memory. Small rows may
 * depend on large ones: so many of the sample are left out that the others depend on no more than fits.
 * A row that a sampled row depends on must not depend on further rows.
 */
async function foldSample (
  projection: Projection, sample: Chosen, until: bigint, options: SampleFoldOptions
): Promise<Folded> {
  const needs = new Needs(sample)
  for await (const event of readable(projection, until, 0, options)) needs.add(event, changedBy(projection, event))
  const { needed, leftOut } = await needs.within(options.sizes)
  const has = (table: AnyTable, key: Key) => sample.has(table, key) && !leftOut.has(table, key)
  const keeps = (table: AnyTable, key: Key) => has(table, key) || needed.has(table, key)
  const rows = new MemoryRows(projection.tables, { isEmpty: true, keeps })
  for await (const event of readable(projection, until, 0.5, options)) fold(projection, event, rows)
  const isLeft = (table: AnyTable, row: object) => has(table, keyOf(table, row))
  const left = rows.take().map(({ table, created }) => [table, created.filter((row) => isLeft(table, row))] as const)
  return { has, rows: new Map(left) }
}

/** Of an event that cannot be read the generation must not have made rows either, so it is left out. */
async function * readable (
  projection: Projection, until: bigint, done: number, options: SampleFoldOptions
): AsyncGenerator<Readable> {
  const { streams, signal, passedOver, onProgress } = options
  if (until === 0n) return
  let count = 0
  for await (const { events, position } of streams.follow({ after: 0n, eventTypes: projection.eventTypes, signal })) {
    const wanted = events.filter((stored) => stored.position <= until && !passedOver.has(stored))
    for (const each of readEvents(projection, wanted)) if ('event' in each) yield each
    count += events.length
    onProgress?.(count, done + Math.min(1, Number(position) / Number(until)) / 2)
    if (position >= until) return
  }
  signal.throwIfAborted()
}

function changedBy (projection: Projection, event: Readable): RowKey[] {
  const changed: RowKey[] = []
  const collect: Rows = { get: () => undefined, put (table, row) { changed.push([table, keyOf(table, row)]) } }
  fold(projection, event, collect)
  return changed
}

type Sizes = (table: AnyTable, keys: Key[]) => Promise<Map<string, number>>

/** Of the rows that are needed beside the sample: they are in memory while the log is folded. */
const mostNeededBytes = 6 * 2 ** 20

class Needs {
  /** Sampled rows, each with what the events read which may change it: others of the sample are among that. */
  readonly #of = new Map<AnyTable, Map<Key, KeySet>>()

  constructor (private readonly sample: Chosen) {}

  add ({ keys }: Readable, changed: RowKey[]): void {
    const isSampled = ([table, key]: RowKey) => this.sample.has(table, key)
    for (const key of [...keys, ...changed].filter(isSampled)) this.#needsOf(key).addAll(keys)
  }

  /** The needed rows, until those beside the sample are too large; the sampled rows that need more are left out. */
  async within (sizes: Sizes): Promise<{ needed: KeySet, leftOut: KeySet }> {
    const found = await this.#sizes(sizes)
    const [needed, leftOut] = [new KeySet(), new KeySet()]
    let bytes = 0
    for (const [table, rows] of this.#of) {
      for (const [key, needs] of rows) {
        const more = needs.entries().filter(([table, key]) => !needed.has(table, key))
        const size = more.reduce((sum, [table, key]) => sum + (found.get(table)?.get(String(key)) ?? 0), 0)
        const fits = bytes + size <= mostNeededBytes
        if (fits) bytes += size
        if (fits) needed.addAll(more)
        else leftOut.addAll([[table, key]])
      }
    }
    return { needed, leftOut }
  }

  async #sizes (sizes: Sizes): Promise<Map<AnyTable, Map<string, number>>> {
    const all = new KeySet()
    for (const rows of this.#of.values()) for (const needs of rows.values()) all.addAll(needs.entries())
    const found = new Map<AnyTable, Map<string, number>>()
    for (const [table, keys] of all.byTable) {
      const beside = [...keys].filter((key) => !this.sample.has(table, key))
      found.set(table, await sizes(table, beside))
    }
    return found
  }

  #needsOf ([table, key]: RowKey): KeySet {
    const ofTable = this.#of.get(table) ?? new Map<Key, KeySet>()
    this.#of.set(table, ofTable)
    const needs = ofTable.get(key) ?? new KeySet()
    ofTable.set(key, needs)
    return needs
  }
}

class KeySet implements Chosen {
  readonly byTable = new Map<AnyTable, Set<Key>>()

  addAll (keys: RowKey[]): void {
    for (const [table, key] of keys) {
      const ofTable = this.byTable.get(table) ?? new Set()
      this.byTable.set(table, ofTable.add(key))
    }
  }

  has (table: AnyTable, key: Key): boolean {
    return this.byTable.get(table)?.has(key) ?? false
  }

  entries (): RowKey[] {
    return [...this.byTable].flatMap(([table, keys]) => [...keys].map((key): RowKey => [table, key]))
  }
}
