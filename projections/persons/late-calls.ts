// Calls that were reported when their person was erased already: the log is to have nothing of them either.
import type { Pool } from 'pg'

export async function findUsersOfLateCalls (pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(
    'SELECT DISTINCT user_id FROM read_model.calls WHERE is_to_erase LIMIT 100')
  return rows.map(({ user_id }) => user_id)
}

/** Behind the id, `most` of them. */
export async function findLateCalls (pool: Pool, userId: string, after: string, most: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(`
    SELECT id FROM read_model.calls WHERE is_to_erase AND user_id = $1 AND id COLLATE "C" > $2
    ORDER BY id COLLATE "C" LIMIT $3`, [userId, after, most])
  return rows.map(({ id }) => id)
}
