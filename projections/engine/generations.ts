// The generations of a projection: where each one lives, and which one readers see.
import type { Pool, PoolClient } from 'pg'
import { checkpointTable, toCheckpoint, type Checkpoint, type CheckpointRow } from '../../src/subscriptions/checkpoint.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Projection } from './projection.js'
import { createIndexes, createTable } from './table.js'
import type { Streams } from '../../src/log/event-log.js'

/**
 * `building`: a replay fills it. `ready`: a swap is due. `active`: readers see it. `retained`: a rollback can swap it
 * back in. `dropping`: it is being removed. Projectors of its code feed it while `ready`, `active` or `retained`.
 */
export type State = 'building' | 'ready' | 'active' | 'retained' | 'dropping'

export interface Generation {
  generation: number
  state: State
  /** Version of the projection's code that folds it; no other version touches it. */
  codeVersion: number
  /** For people: what its rows were compared with before the swap. */
  verified: string | null
  /** Readers see it once its checkpoint is here. Until then its first fill runs. */
  visibleFrom: string
  /** When an operator paused its projection. */
  pausedSince: Date | null
  /** When its state changed last. */
  changedAt: Date
  breaker: Breaker
}

/** As the circuit breaker opened last: it stopped at `position`. Without `openSince` it is closed. */
interface Breaker { openSince: Date | null, position: string, streams: number, error: string }

/** Rows and checkpoint share a schema: to drop the rows is to drop the checkpoint too. */
export const schemaOf = ({ name, effects }: Projection, generation: number) =>
  effects ? 'ledger' : `read_${name}_g${generation}`
export const checkpointOf = (projection: Projection, generation: number) =>
  projection.effects?.checkpoint ?? `${schemaOf(projection, generation)}.checkpoint`
/** The `consumer` of its parked events. */
export const consumerOf = (projection: Projection, generation: number) =>
  projection.effects ? projection.name : schemaOf(projection, generation)
/** The holder of this lease feeds or builds the generation. */
export const leaseOf = ({ name }: NamedOne, generation: number) => `projection ${name} g${generation}`

/**
 * Creates what is missing, so that readers find their tables before the first event, and forgets other generations
 * whose tables are gone. Many processes may call it at once. If it creates a generation, it asks `filledAt` from which
 * position on readers see it.
 */
export async function ensureProjections (
  pool: Pool, projections: readonly Projection[], filledAt = async () => 0n
): Promise<void> {
  await choosing(pool, async (tx) => {
    await tx.query('CREATE SCHEMA IF NOT EXISTS read_model')
    const { rows } = await tx.query<{ schema: string }>("SELECT nspname AS schema FROM pg_namespace WHERE nspname ^@ 'read_'")
    const schemas = new Set(rows.map(({ schema }) => schema))
    const known = await allGenerations(tx, projections)
    let visibleFrom: bigint | undefined
    for (const projection of projections) {
      const generations = known.filter((each) => each.projection === projection)
      const lost = generations.filter((each) => !schemas.has(schemaOf(projection, each.generation)))
      for (const { generation, state } of lost) {
        if (state !== 'active') await removeGeneration(tx, projection, generation)
      }
      const generation = activeOf(generations)?.generation ?? 1
      const schema = schemaOf(projection, generation)
      if (schemas.has(schema)) continue
      visibleFrom ??= await filledAt()
      await createGeneration(tx, projection, generation, 'active', visibleFrom)
      const indexes = projection.tables.flatMap((table) => createIndexes(schema, table))
      for (const index of indexes) await tx.query(index)
      await pointReaders(tx, projection, schema)
    }
  })
}

/** The projections whose active generation another code version folded; `mend` is the command to run. */
export async function outdated (pool: Pool, projections: readonly Projection[]) {
  const found = await allGenerations(pool, projections)
  return found.filter(({ state, codeVersion, projection }) => state === 'active' && codeVersion !== projection.version)
    .map(({ codeVersion, projection: { name, version } }) =>
      ({ name, foldedBy: codeVersion, version, mend: `ringledger projections replay ${name}` }))
}

/** The oldest first. */
export async function generationsOf (db: Pool | PoolClient, projection: NamedOne): Promise<Generation[]> {
  return await allGenerations(db, [projection])
}

type NamedOne = Pick<Projection, 'name'>
export type OfProjection<Each = Projection> = Generation & { projection: Each }

export async function allGenerations<Each extends NamedOne> (
  db: Pool | PoolClient, projections: readonly Each[]
): Promise<Array<OfProjection<Each>>> {
  const text = `
    SELECT projection, generation, state, code_version AS "codeVersion", verified, visible_from AS "visibleFrom",
      paused.since AS "pausedSince", changed_at AS "changedAt",
      breaker_open_since AS "openSince", breaker_position AS position, breaker_streams AS streams, breaker_error AS error
    FROM ledger.generations LEFT JOIN ledger.paused_projections paused USING (projection)
    WHERE projection = ANY($1) ORDER BY generation`
  const values = [projections.map(({ name }) => name)]
  const { rows } = await db.query<Omit<OfProjection<string>, 'breaker'> & Breaker>({ name: 'generations', text, values })
  return rows.flatMap(({ openSince, position, streams, error, ...row }) => {
    const projection = projections.find(({ name }) => name === row.projection)
    return projection ? { ...row, projection, breaker: { openSince, position, streams, error } } : []
  })
}

/** The generation that readers see; 1 when the projection is new. */
export async function activeGeneration (db: Pool | PoolClient, projection: Projection): Promise<number> {
  return activeOf(await generationsOf(db, projection))?.generation ?? 1
}

/** Whether projectors of this code feed the generation. */
export const isFed = ({ version }: Projection, { state, codeVersion, pausedSince }: Generation) =>
  codeVersion === version && pausedSince === null && (state === 'active' || state === 'ready' || state === 'retained')

/** The generation that readers see. */
export const activeOf = <Each extends Generation>(generations: readonly Each[]): Each | undefined =>
  generations.find(({ state }) => state === 'active')

/** The generation that readers saw before. After a rollback it has a higher number than the active one. */
export const formerOf = <Each extends Generation>(generations: readonly Each[]): Each | undefined =>
  generations.filter(({ state }) => state === 'retained')
    .toSorted((one, other) => other.changedAt.getTime() - one.changedAt.getTime())[0]

/** The generation of the replay or rollback under way; there is one at a time. */
export const nextOf = <Each extends Generation>(generations: readonly Each[]): Each | undefined =>
  generations.find(({ state }) => state === 'building' || state === 'ready')

/** Why readers cannot go back to it: this release does not feed it, so its rows are old. */
export const whyNotBack = ({ version }: Projection, { codeVersion }: Generation): string | undefined =>
  codeVersion === version
    ? undefined
    : `version ${codeVersion} of its code folded it, not version ${version}; run the release that folded it, or replay`

/** Creates an empty generation without indexes, and drops what an unfinished earlier try left. */
export async function createGeneration (
  tx: PoolClient, projection: Projection, generation: number, state: State, visibleFrom = 0n
): Promise<void> {
  const schema = schemaOf(projection, generation)
  await removeGeneration(tx, projection, generation)
  await tx.query(`CREATE SCHEMA ${schema}`)
  for (const table of projection.tables) await tx.query(createTable(schema, table))
  await tx.query(checkpointTable(checkpointOf(projection, generation)))
  const madeBy = `Ringledger projection ${projection.name}, code version ${projection.version}`
  await tx.query(`COMMENT ON SCHEMA ${schema} IS '${madeBy}: rebuildable from the log'`)
  await tx.query(`
    INSERT INTO ledger.generations (projection, generation, state, code_version, visible_from)
    VALUES ($1, $2, $3, $4, $5)`, [projection.name, generation, state, projection.version, visibleFrom])
}

/** @returns false if the generation is not in the state `from` */
export async function changeState (
  db: Pool | PoolClient, projection: Projection, generation: number, from: State, to: State
): Promise<boolean> {
  const { rowCount } = await db.query(`
    UPDATE ledger.generations SET state = $4, changed_at = now()
    WHERE projection = $1 AND generation = $2 AND state = $3`, [projection.name, generation, from, to])
  return rowCount === 1
}

/** A transaction that creates generations or chooses which one is next; one at a time. */
export const choosing = <Result>(pool: Pool, work: (tx: PoolClient) => Promise<Result>): Promise<Result> =>
  inTransaction(pool, async (tx) => {
    await tx.query("SELECT pg_advisory_xact_lock(hashtext('ringledger projections'))")
    return await work(tx)
  })

/** Drops the tables of a generation, which no process may feed by then, and every record of it. */
export async function removeGeneration (tx: PoolClient, projection: Projection, generation: number): Promise<void> {
  const schema = schemaOf(projection, generation)
  await tx.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await tx.query('DELETE FROM ledger.parked_events WHERE consumer = $1', [schema])
  await tx.query(
    'DELETE FROM ledger.generations WHERE projection = $1 AND generation = $2', [projection.name, generation])
}

/** If reading the log takes longer, `filledAt` assumes that it has events. */
const soonMs = 2_000

/**
 * The position at which new tables are filled: the end of the log, or 0 if a short look finds no event for them. Even
 * then the log is not empty, because a server appends events of its own.
 */
export async function filledAt (
  { head, follow }: Pick<Streams, 'head' | 'follow'>, projections: readonly Projection[]
): Promise<bigint> {
  const eventTypes = projections.flatMap((projection) => projection.eventTypes)
  const end = await head()
  if (end === 0n) return end
  try {
    for await (const { events, position } of follow({ after: 0n, eventTypes, signal: AbortSignal.timeout(soonMs) })) {
      if (events.length > 0) return end
      if (position >= end) return 0n
    }
  } catch {} // assume that there are events
  return end
}

/** The view in which readers find how far the rows are. */
export const activeCheckpoint = (name: string) => `read_model.${name}_checkpoint`

/** The checkpoints of the active generations. `isFilling`: the first fill still runs. */
export async function activePositions (
  pool: Pool, projections: readonly Projection[]
): Promise<Array<Checkpoint & { name: string, isFilling: boolean }>> {
  const selects = projections.map(({ name }) =>
    `SELECT '${name}' AS name, position, event_id, event_position FROM ${activeCheckpoint(name)}`)
  const { rows } = await pool.query<CheckpointRow & { name: string, isFilling: boolean }>(`
    SELECT seen.*, position < visible_from AS "isFilling"
    FROM (${selects.join(' UNION ALL ')}) seen JOIN ledger.generations ON projection = name AND state = 'active'`)
  return rows.map(({ name, isFilling, ...row }) => ({ name, isFilling, ...toCheckpoint(row) }))
}

/**
 * Points the views of a projection to the tables in `schema`; the commit switches all of them at once. A view never
 * loses a column, so that readers of any release go on: a column that this generation lacks is null.
 */
export async function pointReaders (tx: PoolClient, projection: Projection, schema: string): Promise<void> {
  for (const { name, columns, internal } of projection.tables) {
    if (internal) continue
    const former = await columnsOf(tx, `read_model.${name}`)
    const kept = former.map(({ column, type }) => column in columns ? `"${column}"` : `NULL::${type} AS "${column}"`)
    const isNew = (column: string) => !former.some((known) => known.column === column)
    const added = Object.keys(columns).filter(isNew).map((column) => `"${column}"`)
    const list = [...kept, ...added].join(', ')
    await tx.query(`CREATE OR REPLACE VIEW read_model.${name} AS SELECT ${list} FROM ${schema}.${name}`)
  }
  await tx.query(`
    CREATE OR REPLACE VIEW ${activeCheckpoint(projection.name)} AS
    SELECT position, updated_at, event_id, event_position FROM ${schema}.checkpoint`)
}

async function columnsOf (tx: PoolClient, view: string): Promise<Array<{ column: string, type: string }>> {
  const { rows } = await tx.query<{ column: string, type: string }>(`
    SELECT attname AS column, format_type(atttypid, atttypmod) AS type
    FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, [view])
  return rows
}

/**
 * Carries `<projection> <position>` when readers can see more, and ` parked` if any event is parked or skipped; or
 * `replaced`, after which earlier positions mean nothing.
 */
export const checkpointChannel = 'ringledger_checkpoint'

/** Triggers notify it when a generation or a pause of a projection begins, changes or ends. */
export const generationsChannel = 'ringledger_generations'

/** Notified when a call waits in vain: idle subscriptions then check where the log ends. */
export const awaitedChannel = 'ringledger_awaited'

/** Whether an event of the generation is parked, or was skipped. */
export const hasSetApartSql = (schema: string, name: string) => `(
  EXISTS (SELECT FROM ledger.parked_events WHERE consumer = ${schema})
  OR EXISTS (SELECT FROM ledger.skipped_events WHERE projection = ${name}))`
