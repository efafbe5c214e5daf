// Whose deliveries are, and where they go: for operators, who look at those of all users.
import type { Pool } from 'pg'

export interface Receiver {
  /** Null when the assistant is unknown. */
  user_id: string | null
  /** Its URL without the query, which may hold a secret; null of what is not sent. */
  endpoint: string | null
}

/** Of each of these deliveries, by its id. */
export async function findReceivers (pool: Pool, ids: readonly string[]): Promise<Map<string, Receiver>> {
  const { rows } = await pool.query<Receiver & { id: string }>(`
    SELECT d.id, d.user_id, split_part(e.url, '?', 1) AS endpoint
    FROM ledger.webhook_deliveries d LEFT JOIN ledger.webhook_endpoints e ON e.id = d.endpoint_id
    WHERE d.id = ANY($1::uuid[])`, [ids])
  return new Map(rows.map(({ id, ...receiver }) => [id, receiver]))
}
