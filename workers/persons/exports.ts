// The rows of exports: the request until it has ended, the one place with the number, encrypted; the export for a day,
// in parts, each encrypted by itself and bound to its place.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { lockForCount } from '../work/requests.js'

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

export interface ExportPlace { id: string, userId: string }

/** Of a part before it is encrypted, in characters: what a process holds of an export. */
const partLength = 256 * 1024
/** Ids of calls beside a part. */
const mostCalls = 10_000

/** SQL and code say alike what a part is bound to. */
export const ownerOfPart = "user_id || ' ' || request_id || ' ' || part"
const ownerOf = ({ id, userId }: ExportPlace, part: number) => `${userId} ${id} ${part}`

/**
 * Writes the text of an export that takes the place of one that was begun. `end` writes what is left. Its
 * calls are noted beside it: others may have answered them, who are erased while it is kept.
 */
export async function beginExport (tx: PoolClient, keys: SecretKeys, place: ExportPlace) {
  await tx.query('DELETE FROM ledger.person_exports WHERE request_id = $1', [place.id])
  let text = ''
  let calls: string[] = []
  let part = 0
  const flush = async (isLast: boolean) => {
    const { key_id: keyId, sealed } = seal(keys, ownerOf(place, part), text)
    await tx.query(`
      INSERT INTO ledger.person_exports (request_id, part, is_last, user_id, key_id, sealed, call_ids)
      VALUES ($1, $2, $3, $4, $5, decode($6, 'base64'), $7)`,
    [place.id, part, isLast, place.userId, keyId, sealed, calls])
    text = ''
    calls = []
    part += 1
  }
  return {
    async write (more: string, ofCall?: string): Promise<void> {
      text += more
      if (ofCall !== undefined) calls.push(ofCall)
      if (text.length >= partLength || calls.length >= mostCalls) await flush(false)
    },
    end: () => flush(true)
  }
}

/** Whether the export is there. */
export async function hasExport (pool: Pool, { id, userId }: ExportPlace): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM ledger.person_exports WHERE request_id = $1 AND user_id = $2 AND part = 0', [id, userId])
  return rowCount === 1
}

/** The text of the export, part by part as its reader takes it. @throws Error where it was removed meanwhile */
export async function * readExport (pool: Pool, keys: SecretKeys, place: ExportPlace): AsyncGenerator<string, void> {
  for (let part = 0, isLast = false; !isLast; part += 1) {
    const { rows: [row] } = await pool.query<SealedRow & { is_last: boolean }>(`
      SELECT key_id, encode(sealed, 'base64') AS sealed, is_last FROM ledger.person_exports
      WHERE request_id = $1 AND part = $2 AND user_id = $3`, [place.id, part, place.userId])
    if (!row) throw new Error('the export of a person was removed while it was read')
    yield unseal(keys, ownerOf(place, part), row)
    isLast = row.is_last
  }
}

const removedAtOnce = 1_000

/** Removes exports that can no longer be downloaded, and those that a request left which failed. */
export async function removeOldExports (pool: Pool): Promise<number> {
  const { rowCount } = await pool.query(`
    DELETE FROM ledger.person_exports WHERE ctid = ANY (ARRAY (
      SELECT ctid FROM ledger.person_exports old
      WHERE written_at < now() - interval '1 day'
        AND NOT EXISTS (SELECT FROM ledger.person_requests WHERE id = old.request_id)
      LIMIT ${removedAtOnce}))`)
  return rowCount ?? 0
}
