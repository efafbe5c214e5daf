// What readers and the dispatcher have parked, and the rows that say whose it may be.
import type { Pool } from 'pg'
import type { Person } from './find-person.js'
import { namesNumber } from './rows-of-person.js'

export interface ParkedStream {
  stream: string
  /** The first event that waits has it. */
  revision: bigint
}

/** @param consumers generations such as `read_leads_g1`, and the dispatcher */
export async function findParked (pool: Pool, consumers: readonly string[]): Promise<ParkedStream[]> {
  const { rows } = await pool.query<{ stream: string, revision: string }>(`
    SELECT stream, min(revision) AS revision FROM ledger.parked_events WHERE consumer = ANY($1)
    GROUP BY stream ORDER BY min(parked_at), stream`, [consumers])
  return rows.map(({ stream, revision }) => ({ stream, revision: BigInt(revision) }))
}

/** Of these calls those of the person, or that may be: what was reported late is known to the log alone. */
export async function findOwnCalls (
  pool: Pool, { userId, phoneNumber }: Person, leadIds: readonly number[], among: readonly string[]
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(`
    SELECT id FROM read_model.calls
    WHERE id = ANY($4) AND user_id = $1 AND (is_to_erase OR ${namesNumber('$2')} OR lead_id = ANY($3::bigint[]))`,
  [userId, phoneNumber, leadIds, among])
  return rows.map(({ id }) => id)
}

/** Whose an assistant is, as readers know it. */
export async function findOwner (pool: Pool, assistantId: unknown): Promise<string | undefined> {
  if (typeof assistantId !== 'number' || !Number.isSafeInteger(assistantId)) return undefined
  const { rows: [found] } = await pool.query<{ user_id: string }>(
    'SELECT user_id FROM read_model.assistants WHERE id = $1', [assistantId])
  return found?.user_id
}
