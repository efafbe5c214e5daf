// Which generations of a projection there are, where each one lives, and which one readers see.
import type { Pool, PoolClient } from 'pg'
import { checkpointTable, toCheckpoint, type Checkpoint, type CheckpointRow } from '../../src/subscriptions/checkpoint.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Projection } from './projection.js'
import { createIndexes, createTable } from './table.js'
import type { Streams } from '../../src/log/event-log.js'

/**
 * `building` by a replay; `ready` to be swapped in; `active`, which readers see; `retained` after a swap, to be swapped
 * back in; `dropping` on its way out. All but the first and the last are fed by projectors of their code.
 */
export type State = 'building' | 'ready' | 'active' | 'retained' | 'dropping'

export interface Generation {
  generation: number
  state: State
  /** The version of the projection's code that folds it: no other one touches it. */
  codeVersion: number
  /** Against what its rows were verified before it was swapped in, in words. */
  verified: string | null
  /** Readers see it once its checkpoint is here: before, it is filled for the first time. */
  visibleFrom: string
  /** Since when an operator has paused its projection, if so. */
  pausedSince: Date | null
  /** When it came into its state. */
  changedAt: Date
}

/** Rows and checkpoint share a schema: to drop the rows is to drop the checkpoint too. */
export const schemaOf = ({ name, effects }: Projection, generation: number) =>
  effects ? 'ledger' : `read_${name}_g${generation}`
export const checkpointOf = (projection: Projection, generation: number) =>
  projection.effects?.checkpoint ?? `${schemaOf(projection, generation)}.checkpoint`
/** Whose parked events are its. */
export const consumerOf = (projection: Projection, generation: number) =>
  projection.effects ? projection.name : schemaOf(projection, generation)
/** Who holds this lease feeds the generation. */
export const leaseOf = ({ name }: NamedOne, generation: number) => `projection ${name} g${generation}`

/**
 * Creates what is missing, so that readers find their tables before the first event. Many processes may call it at
 * once. `filledAt` is asked when one is made: readers see it from there on.
 */
export async function ensureProjections (
  pool: Pool, projections: readonly Projection[], filledAt = async () => 0n
): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await lockGenerations(tx)
    await tx.query('CREATE SCHEMA IF NOT EXISTS read_model')
    let visibleFrom: bigint | undefined
    for (const projection of projections) {
      const generation = await activeGeneration(tx, projection)
      const schema = schemaOf(projection, generation)
      const { rowCount: isThere } = await tx.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])
      if (isThere) continue
      visibleFrom ??= await filledAt()
      await createGeneration(tx, projection, generation, 'active', visibleFrom)
      const indexes = projection.tables.flatMap((table) => createIndexes(schema, table))
      for (const index of indexes) await tx.query(index)
      await pointReaders(tx, projection, schema)
    }
  })
}

/** A projection whose active generation other code has folded, and the command that mends it. */
interface Outdated { name: string, foldedBy: number, version: number, mend: string }

export async function outdated (pool: Pool, projections: readonly Projection[]): Promise<Outdated[]> {
  const found = await Promise.all(projections.map(async (projection) => {
    const active = (await generationsOf(pool, projection)).find(({ state }) => state === 'active')
    const { name, version } = projection
    if (!active || active.codeVersion === version) return []
    return [{ name, foldedBy: active.codeVersion, version, mend: `ringledger projections replay ${name}` }]
  }))
  return found.flat()
}

/** Every generation that there is, the oldest first. */
export async function generationsOf (db: Pool | PoolClient, projection: NamedOne): Promise<Generation[]> {
  return await allGenerations(db, [projection])
}

type NamedOne = Pick<Projection, 'name'>
export type OfProjection<Each = Projection> = Generation & { projection: Each }

/** The same of each of them. */
export async function allGenerations<Each extends NamedOne> (
  db: Pool | PoolClient, projections: readonly Each[]
): Promise<Array<OfProjection<Each>>> {
  const text = `
    SELECT projection, generation, state, code_version AS "codeVersion", verified, visible_from AS "visibleFrom",
      paused.since AS "pausedSince", changed_at AS "changedAt"
    FROM ledger.generations LEFT JOIN ledger.paused_projections paused USING (projection)
    WHERE projection = ANY($1) ORDER BY generation`
  const values = [projections.map(({ name }) => name)]
  const { rows } = await db.query<OfProjection<string>>({ name: 'generations', text, values })
  return rows.flatMap((row) => {
    const projection = projections.find(({ name }) => name === row.projection)
    return projection ? { ...row, projection } : []
  })
}

/** The generation that readers see; 1 when the projection is new. */
export async function activeGeneration (db: Pool | PoolClient, projection: Projection): Promise<number> {
  return (await generationsOf(db, projection)).find(({ state }) => state === 'active')?.generation ?? 1
}

/** Whether projectors of this code feed the generation. */
export const isFed = ({ version }: Projection, { state, codeVersion, pausedSince }: Generation) =>
  codeVersion === version && pausedSince === null && (state === 'active' || state === 'ready' || state === 'retained')

/** The one that readers saw before the active one, whatever its number: a rollback may have come between. */
export const formerOf = <Each extends Generation>(generations: readonly Each[]): Each | undefined =>
  generations.filter(({ state }) => state === 'retained')
    .toSorted((one, other) => other.changedAt.getTime() - one.changedAt.getTime())[0]

/** The one that waits for the end of a replay or rollback: there is one at a time. */
export const nextOf = <Each extends Generation>(generations: readonly Each[]): Each | undefined =>
  generations.find(({ state }) => state === 'building' || state === 'ready')

/** Why readers cannot go back to it: this release does not feed it, so they would go back in time. */
export const whyNotBack = ({ version }: Projection, { codeVersion }: Generation): string | undefined =>
  codeVersion === version
    ? undefined
    : `version ${codeVersion} of its code folded it, not version ${version}; run the release that folded it, or replay`

/** Makes an empty generation without indexes, and drops what an unfinished earlier try has left. */
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

/** Moves a generation on from a state; false when it is not in that state. */
export async function changeState (
  db: Pool | PoolClient, projection: Projection, generation: number, from: State, to: State
): Promise<boolean> {
  const { rowCount } = await db.query(`
    UPDATE ledger.generations SET state = $4, changed_at = now()
    WHERE projection = $1 AND generation = $2 AND state = $3`, [projection.name, generation, from, to])
  return rowCount === 1
}

/** Only one transaction at a time makes generations or changes which of them are next. */
export async function lockGenerations (tx: PoolClient): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock(hashtext(\'ringledger projections\'))')
}

/** Drops the tables of a generation that no process feeds any more, and every record of it. */
export async function removeGeneration (tx: PoolClient, projection: Projection, generation: number): Promise<void> {
  const schema = schemaOf(projection, generation)
  await tx.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await tx.query('DELETE FROM ledger.parked_events WHERE consumer = $1', [schema])
  await tx.query('DELETE FROM ledger.circuit_breakers WHERE consumer = $1', [schema])
  await tx.query(
    'DELETE FROM ledger.generations WHERE projection = $1 AND generation = $2', [projection.name, generation])
}

/** A log that has more to read than is read within this time is not taken for empty. */
const soonMs = 2_000

/**
 * Where tables of these that are made now are filled: where the log ends, or 0 when it has no event for them, as far as
 * that is known soon. A server has events of its own.
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
  } catch {} // then they are filled like any others
  return end
}

/** Where readers of a projection find how far its rows are. */
export const activeCheckpoint = (name: string) => `read_model.${name}_checkpoint`

/** How far what readers see has read the log, by projection, and whether it is still filled for the first time. */
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
 * Leads the views of a projection to the tables in `schema`; with the transaction's commit, all in one instant. A view
 * never loses a column, so that readers of any release go on: what this generation does not have is null.
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
 * Carries `<projection> <position>` whenever readers can see more, and ` parked` where rows lack what events say; or
 * `replaced`, where positions of before mean nothing.
 */
export const checkpointChannel = 'ringledger_checkpoint'

/** Notified by Postgres when a generation or a pause of a projection begins, changes or ends. */
export const generationsChannel = 'ringledger_generations'

/** Told when somebody waits in vain: a subscription that has heard nothing for long looks at the log itself. */
export const awaitedChannel = 'ringledger_awaited'

/** Whether an event of the generation is parked, or was skipped. */
export const hasSetApartSql = (schema: string, name: string) => `(
  EXISTS (SELECT FROM ledger.parked_events WHERE consumer = ${schema})
  OR EXISTS (SELECT FROM ledger.skipped_events WHERE projection = ${name}))`
