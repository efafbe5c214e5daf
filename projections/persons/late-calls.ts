// Calls that were reported when their person was erased already, or for an assistant that is nobody's: the log is to
// have nothing of them either.
import type { Pool } from 'pg'

/** An erasure would be parked behind these events, and nobody could skip what it hides. */
export const isNotParked = "NOT EXISTS (SELECT FROM ledger.parked_events WHERE stream = 'call-' || calls.id)"

export async function findUsersOfLateCalls (pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(
    `SELECT DISTINCT user_id FROM read_model.calls WHERE is_to_erase AND user_id IS NOT NULL AND ${isNotParked} LIMIT 100`)
  return rows.map(({ user_id }) => user_id)
}

/** Behind the id, `most` of them. @param nobodys calls that are nobody's */
export async function findLateCalls (
  pool: Pool, userId: string, nobodys: readonly string[], after: string, most: number
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(`
    SELECT id FROM read_model.calls
    WHERE is_to_erase AND (user_id = $1 OR user_id IS NULL AND id = ANY($4)) AND ${isNotParked} AND id COLLATE "C" > $2
    ORDER BY id COLLATE "C" LIMIT $3`, [userId, after, most, nobodys])
  return rows.map(({ id }) => id)
}

/** A call whose assistant readers did not know, and where in the log it is. */
export interface Unowned { id: string, assistantId: number, position: bigint }

export async function findUnowned (pool: Pool): Promise<Unowned[]> {
  const { rows } = await pool.query<{ id: string, assistant_id: string, position: string }>(`
    SELECT id, assistant_id, position FROM read_model.calls WHERE is_to_erase AND user_id IS NULL
    ORDER BY id COLLATE "C" LIMIT 1000`)
  return rows.map(({ id, assistant_id, position }) =>
    ({ id, assistantId: Number(assistant_id), position: BigInt(position) }))
}
