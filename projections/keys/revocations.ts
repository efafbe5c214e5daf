// Tells every process that a key or a token is over, before the read model has it.
import type { Pool } from 'pg'

export const revocationChannel = 'ringledger_revoked'

export type Revoked = { key: number } | { token: string }

/** As it stands in `ledger.revocations`, and in the notification. */
const revokedText = (revoked: Revoked) =>
  'key' in revoked ? `key ${revoked.key}` : `token ${revoked.token}`

/** Read back; nothing where it says nothing. */
export function revokedIn (text: string): Revoked | undefined {
  const [, what, name = ''] = /^(key|token) (\w+)$/.exec(text) ?? []
  if (what === undefined) return undefined
  return what === 'key' ? { key: Number(name) } : { token: name }
}

/** Once it returns, a process that looks or listens knows. Safe to repeat. */
export async function announceRevoked (pool: Pool, revoked: Revoked): Promise<void> {
  await pool.query(`
    WITH noted AS (INSERT INTO ledger.revocations (what) VALUES ($1) ON CONFLICT DO NOTHING)
    SELECT pg_notify($2, $1)`, [revokedText(revoked), revocationChannel])
}

/** The read model has what is older than a day. @returns how many were removed */
export async function forgetAnnounced (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(
    "DELETE FROM ledger.revocations WHERE revoked_at < now() - interval '1 day'")
  return rowCount ?? 0
}
