// Requests for a person's data that have not ended: the one place with the number, encrypted, and for that time.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { lockForCount } from '../background/requests.js'

/** What a user asks for. The number is in E.164. */
export interface NewPersonRequest { id: string, userId: string, phoneNumber: string }

/** Requests of a user that have not ended, and exports of theirs that are kept: each may have many megabytes. */
export const mostOfUser = 100

/** Notes it for the workers, once. False when the user has so many that no other may be. */
export async function noteRequest (
  pool: Pool, keys: SecretKeys, { id, userId, phoneNumber }: NewPersonRequest
): Promise<boolean> {
  const { key_id: keyId, sealed } = seal(keys, userId, phoneNumber)
  return await inTransaction(pool, async (tx) => {
    await lockForCount(tx, 'person-export', userId)
    const { rows: [noted] } = await tx.query<{ is_there: boolean }>(`
      WITH known AS (
        SELECT id FROM ledger.person_requests WHERE user_id = $2
        UNION SELECT request_id FROM ledger.person_exports WHERE user_id = $2 AND part = 0
      ), added AS (
        INSERT INTO ledger.person_requests (id, user_id, key_id, sealed)
        SELECT $1, $2, $3, decode($4, 'base64') WHERE (SELECT count(*) FROM known WHERE id <> $1) < ${mostOfUser}
        ON CONFLICT (id) DO NOTHING RETURNING id
      )
      SELECT EXISTS (SELECT FROM added) OR EXISTS (SELECT FROM known WHERE id = $1) AS is_there`,
    [id, userId, keyId, sealed])
    return noted?.is_there ?? false
  })
}

/** Whether the workers will go on with it. */
export async function isNoted (db: Pool, id: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM ledger.person_requests WHERE id = $1', [id])
  return rowCount === 1
}

export interface DueRequest { id: string, tries: number, isOld: boolean }

/** The oldest one that is due of some user: nobody waits long for those who ask for much. @param id only this one */
export async function findDue (pool: Pool, id?: string): Promise<DueRequest | undefined> {
  const { rows: [due] } = await pool.query<{ id: string, tries: number, is_old: boolean }>(`
    SELECT * FROM (
      SELECT DISTINCT ON (user_id) id, tries, created_at < now() - interval '1 day' AS is_old
      FROM ledger.person_requests WHERE due_at <= now() AND ($1::uuid IS NULL OR id = $1) ORDER BY user_id, created_at) oldest
    ORDER BY random() LIMIT 1`, [id ?? null])
  return due && { id: due.id, tries: due.tries, isOld: due.is_old }
}

/** The request for one transaction, with its number; nothing while another process has it, or when it has ended. */
export async function lockRequest (
  tx: PoolClient, keys: SecretKeys, id: string
): Promise<NewPersonRequest | undefined> {
  const { rows: [row] } = await tx.query<SealedRow & { user_id: string }>(`
    SELECT user_id, key_id, encode(sealed, 'base64') AS sealed
    FROM ledger.person_requests WHERE id = $1 FOR UPDATE SKIP LOCKED`, [id])
  return row && { id, userId: row.user_id, phoneNumber: unseal(keys, row.user_id, row) }
}

/** It is looked at again after so many seconds. @param failed whether it was tried in vain */
export async function postpone (pool: Pool, id: string, seconds: number, failed = false): Promise<void> {
  await pool.query(`
    UPDATE ledger.person_requests SET due_at = now() + $2 * interval '1 second', tries = tries + $3 WHERE id = $1`,
  [id, seconds, failed ? 1 : 0])
}

export async function removeRequest (pool: Pool, id: string): Promise<void> {
  await pool.query('DELETE FROM ledger.person_requests WHERE id = $1', [id])
}
