// An export as it is kept for a day: in parts, each encrypted by itself and bound to its place.
import type { Pool, PoolClient } from 'pg'
import { seal, unseal, type SealedRow, type SecretKeys } from '../../src/privacy/sealed-text.js'

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
