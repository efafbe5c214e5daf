// The endpoints that nothing is sent to just now, for operators of all users.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { resumeEndpoints } from '../deliveries/endpoints.js'

export interface InterruptedEndpoint {
  id: string
  user_id: string
  /** Without its query, which may hold a secret. */
  url: string
  state: 'suspended' | 'paused'
  reason: string
  /** ISO 8601; null of a pause. */
  since: string | null
  /** ISO 8601; null of a suspension, which ends when somebody ends it. */
  until: string | null
}

interface Row { id: string, user_id: string, url: string, reason: string, since: Date | null, until: Date | null }

/** Suspended ones first, the longest suspended first. */
export async function interruptedEndpoints (pool: Pool, most: number): Promise<InterruptedEndpoint[]> {
  const { rows } = await pool.query<Row>(`
    SELECT id, user_id, split_part(url, '?', 1) AS url, coalesce(suspended_reason, pause_reason) AS reason,
           suspended_at AS since, CASE WHEN suspended_at IS NULL THEN paused_until END AS until
    FROM ledger.webhook_endpoints
    WHERE suspended_at IS NOT NULL OR paused_until > clock_timestamp()
    ORDER BY suspended_at NULLS LAST, id LIMIT $1`, [most])
  return rows.map(({ since, until, ...row }) => ({
    ...row,
    state: since ? 'suspended' : 'paused',
    since: since?.toISOString() ?? null,
    until: until?.toISOString() ?? null
  }))
}

/** Ends the suspension or pause of one. @returns how many deliveries were held; nothing when it is not interrupted */
export async function resumeEndpoint (pool: Pool, id: string): Promise<number | undefined> {
  return await inTransaction(pool, async (tx) => {
    const { rows: [found] } = await tx.query<{ user_id: string }>(`
      SELECT user_id FROM ledger.webhook_endpoints
      WHERE id = $1 AND (suspended_at IS NOT NULL OR paused_until > clock_timestamp())`, [id])
    if (!found) return undefined
    const held = await resumeEndpoints(tx, [id])
    await notifyDue(tx, found.user_id)
    return held
  })
}
