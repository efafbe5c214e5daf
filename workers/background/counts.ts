// How many requests wait to be finished, for what measures it.
import type { Pool } from 'pg'

export interface UnfinishedRequests {
  kind: string
  count: number
  /** Of them, those whose last turns kept nothing. */
  failing: number
  /** Age of the oldest one. */
  oldestSeconds: number
}

/** By kind. A user has few unfinished ones, and an index has no others. */
export async function countUnfinished (pool: Pool): Promise<UnfinishedRequests[]> {
  const { rows } = await pool.query<UnfinishedRequests>(`
    SELECT kind, count(*)::integer AS count, count(*) FILTER (WHERE failures > 1)::integer AS failing,
      extract(epoch FROM now() - min(created_at))::float AS "oldestSeconds"
    FROM ledger.background_requests WHERE state = 'accepted' GROUP BY kind`)
  return rows
}
