// The rows of imports that wait: written as a body is read, read part by part, and removed as they are done.
import type { Pool, PoolClient } from 'pg'
import type { CreateLeadBody } from '../../src/features/leads/decide.js'
import type { Submitted } from '../../src/domain/validation.js'

/** A lead as it was sent, and what its schema refused of it. */
export type SentLead = Submitted<CreateLeadBody>
/** With its number in the file or list that was sent. */
export type SentRow = SentLead & { row: number }

export interface Part {
  firstRow: number
  leads: SentRow[]
  /** What was reserved when it was begun before; then its rows may be in the log. */
  ids: number[] | undefined
}

/** Of an upload whose request was not prepared within this time nobody knows any more. */
const orphanedAfter = '1 hour'

/** A body of a user that is being read. */
export interface Upload { id: string, userId: string }

export async function addPart (
  pool: Pool, { id, userId }: Upload, firstRow: number, leads: readonly SentRow[]
): Promise<void> {
  await pool.query(`
    INSERT INTO ledger.lead_import_parts (upload_id, user_id, first_row, leads) VALUES ($1, $2, $3, $4)`,
  [id, userId, firstRow, JSON.stringify(leads)])
}

/** The first one that waits. */
export async function nextPart (pool: Pool, uploadId: string): Promise<Part | undefined> {
  const { rows: [part] } = await pool.query<{ first_row: number, leads: SentRow[], ids: string[] | null }>(`
    SELECT first_row, leads, ids FROM ledger.lead_import_parts WHERE upload_id = $1 ORDER BY first_row LIMIT 1`, [uploadId])
  return part && { firstRow: part.first_row, leads: part.leads, ids: part.ids?.map(Number) }
}

/**
 * Keeps the ids for the part, unless it has some: from now on its rows stay as they are.
 * @returns the ids that it has, and its leads: an erasure may have refused some since they were read
 */
export async function beginPart (
  pool: Pool, uploadId: string, firstRow: number, ids: readonly number[]
): Promise<{ ids: number[], leads: SentRow[] }> {
  const { rows: [part] } = await pool.query<{ ids: string[], leads: SentRow[] }>(`
    UPDATE ledger.lead_import_parts SET ids = coalesce(ids, $3::bigint[])
    WHERE upload_id = $1 AND first_row = $2 RETURNING ids, leads`, [uploadId, firstRow, ids])
  if (!part) throw new Error('a part of an import is gone: another worker has done it')
  return { ids: part.ids.map(Number), leads: part.leads }
}

export async function removePart (tx: PoolClient, uploadId: string, firstRow: number): Promise<void> {
  await tx.query('DELETE FROM ledger.lead_import_parts WHERE upload_id = $1 AND first_row = $2', [uploadId, firstRow])
}

/** Removes what is left of an upload. */
export async function removeUpload (pool: Pool, uploadId: string): Promise<void> {
  await pool.query('DELETE FROM ledger.lead_import_parts WHERE upload_id = $1', [uploadId])
}

/** The same, unless the import has it: a request that is repeated sends its rows again, and needs them once. */
export async function removeUnused (pool: Pool, uploadId: string, importId: string | undefined): Promise<void> {
  await pool.query(`
    DELETE FROM ledger.lead_import_parts WHERE upload_id = $1 AND NOT EXISTS (
      SELECT FROM ledger.background_requests WHERE id = $2 AND input ->> 'upload_id' = $1::text)`, [uploadId, importId ?? null])
}

/** Removes what processes that died had read of bodies. */
export async function removeOrphans (pool: Pool): Promise<void> {
  await pool.query(`
    DELETE FROM ledger.lead_import_parts WHERE upload_id IN (
      SELECT upload_id FROM ledger.lead_import_parts WHERE created_at < now() - interval '${orphanedAfter}'
      EXCEPT
      SELECT (input ->> 'upload_id')::uuid FROM ledger.background_requests
      WHERE kind = 'lead-import' AND state IN ('prepared', 'accepted')
      LIMIT 10)`)
}
