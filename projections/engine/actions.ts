// Records the actions on projections that operators ask the service for; the process that runs one reports progress.
import type { Pool } from 'pg'
import type { Action } from './operations.js'

interface Row {
  id: string
  action: Action
  projection: string
  state: 'running' | 'done' | 'failed'
  /** 0 to 1; null if unknown. */
  progress: number | null
  /** For people. */
  message: string
  began_at: Date
}

export type ActionReport = Awaited<ReturnType<typeof find>>[number]

/** Heartbeat of a process that runs an action, in milliseconds. */
export const tellEveryMs = 1_000

/** A Postgres interval. A process without a heartbeat for longer counts as dead; on a busy machine it starts slowly. */
const silentFor = '30 seconds'
const kept = '90 days'

const died = 'The process that did it has ended without a word. Ask for it again: it goes on where it stands.'

const isDead = `state = 'running' AND told_at < clock_timestamp() - interval '${silentFor}'`

/** @returns false while another action runs on that projection */
export async function beginAction (
  pool: Pool, { id, action, projection }: Pick<Row, 'id' | 'action' | 'projection'>
): Promise<boolean> {
  await pool.query(`DELETE FROM ledger.projection_actions WHERE began_at < now() - interval '${kept}'`)
  await pool.query(`
    UPDATE ledger.projection_actions SET state = 'failed', message = $2 WHERE projection = $1 AND ${isDead}`,
  [projection, died])
  const { rowCount } = await pool.query(`
    INSERT INTO ledger.projection_actions (id, projection, action) VALUES ($1, $2, $3)
    ON CONFLICT (projection) WHERE state = 'running' DO NOTHING`, [id, projection, action])
  return rowCount === 1
}

/** Does nothing once the action has ended. */
export async function tellProgress (pool: Pool, id: string, progress: number | null, message: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.projection_actions SET progress = $2, message = $3, told_at = clock_timestamp()
    WHERE id = $1 AND state = 'running'`, [id, progress, message])
}

export async function endAction (pool: Pool, id: string, state: 'done' | 'failed', message: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.projection_actions
    SET state = $2, message = $3, progress = CASE WHEN $2 = 'done' THEN 1 ELSE progress END, told_at = clock_timestamp()
    WHERE id = $1 AND state = 'running'`, [id, state, message])
}

const columns = `
  id, action, projection, progress, began_at,
  CASE WHEN ${isDead} THEN 'failed' ELSE state END AS state,
  CASE WHEN ${isDead} THEN '${died}' ELSE message END AS message`

/** @param which SQL of ours */
async function find (pool: Pool, which: string, values: unknown[] = []) {
  const { rows } = await pool.query<Row>(`SELECT ${columns} FROM ledger.projection_actions ${which}`, values)
  return rows.map(({ began_at: at, ...row }) => ({ ...row, began_at: at.toISOString() }))
}

export const findAction = async (pool: Pool, id: string) => (await find(pool, 'WHERE id = $1', [id]))[0]
export const newestActions = (pool: Pool, most: number) => find(pool, 'ORDER BY began_at DESC LIMIT $1', [most])
export const runningActions = (pool: Pool) => find(pool, `WHERE state = 'running' AND NOT (${isDead})`)
