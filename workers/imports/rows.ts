// The rows of imports: waiting ones, which are written while a body is read and removed once done, and their results.
import type { Pool, PoolClient } from 'pg'
import type { CreateLeadBody } from '../../src/features/leads/decide.js'
import type { Submitted, FieldErrors } from '../../src/domain/rejection.js'
import { eachPart } from '../../src/postgres/each-part.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import { inSnapshot } from '../../src/postgres/transaction.js'

/** A lead as it was sent, and what its schema refused of it. */
export type SentLead = Submitted<CreateLeadBody>
/** With its number in the file or list that was sent. */
export type SentRow = SentLead & { row: number }

export interface Part {
  firstRow: number
  leads: SentRow[]
  /** Reserved by an earlier try, whose rows may be in the log. */
  ids: number[] | undefined
}

/** If an upload's request was not prepared within this time, its process has died. */
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

export async function nextPart (pool: Pool, uploadId: string): Promise<Part | undefined> {
  const { rows: [part] } = await pool.query<{ first_row: number, leads: SentRow[], ids: string[] | null }>(`
    SELECT first_row, leads, ids FROM ledger.lead_import_parts WHERE upload_id = $1 ORDER BY first_row LIMIT 1`, [uploadId])
  return part && { firstRow: part.first_row, leads: part.leads, ids: part.ids?.map(Number) }
}

/**
 * Stores the ids for the part unless it has some. From now on its rows do not change.
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

/**
 * Removes what is left of an upload, unless the import uses it: a repeated request uploads its rows again, but one copy
 * is enough.
 */
export async function removeUnused (pool: Pool, uploadId: string, importId?: string): Promise<void> {
  await pool.query(`
    DELETE FROM ledger.lead_import_parts WHERE upload_id = $1 AND NOT EXISTS (
      SELECT FROM ledger.work WHERE id = $2 AND input ->> 'upload_id' = $1::text)`, [uploadId, importId ?? null])
}

/** Removes the rows of bodies whose process died. */
export async function removeOrphans (pool: Pool): Promise<void> {
  await pool.query(`
    DELETE FROM ledger.lead_import_parts WHERE upload_id IN (
      SELECT upload_id FROM ledger.lead_import_parts WHERE created_at < now() - interval '${orphanedAfter}'
      EXCEPT
      SELECT (input ->> 'upload_id')::uuid FROM ledger.work
      WHERE kind = 'lead-import' AND state IN ('prepared', 'accepted')
      LIMIT 10)`)
}

export type RowOutcome =
  | { outcome: 'created', lead_id: number }
  | { outcome: 'duplicate' }
  /** `errors` is null once too many bytes of errors are stored. */
  | { outcome: 'invalid', errors: FieldErrors | null }

export interface RowResult {
  row: number
  outcome: RowOutcome['outcome']
  lead_id: number | null
  errors: FieldErrors | null
}

/** For one import. */
const mostErrorBytes = 20 * 2 ** 20

/** Drops errors beyond `most` bytes. @param kept bytes that are stored already */
export function withinBytes (outcomes: readonly RowOutcome[], kept: number, most = mostErrorBytes) {
  let bytes = kept
  const within = outcomes.map((each): RowOutcome => {
    const size = each.outcome === 'invalid' ? Buffer.byteLength(JSON.stringify(each.errors)) : 0
    if (each.outcome === 'invalid' && bytes + size > most) return { ...each, errors: null }
    bytes += size
    return each
  })
  return { outcomes: within, bytes }
}

export async function addResults (
  tx: PoolClient, importId: string, rows: readonly number[], outcomes: readonly RowOutcome[]
): Promise<void> {
  await tx.query(`
    INSERT INTO ledger.lead_import_results (import_id, row, outcome, lead_id, errors)
    SELECT $1, * FROM unnest($2::integer[], $3::text[], $4::bigint[], $5::json[])`, [
    importId, rows,
    outcomes.map(({ outcome }) => outcome),
    outcomes.map((result) => result.outcome === 'created' ? result.lead_id : null),
    outcomes.map((result) => result.outcome === 'invalid' && result.errors ? JSON.stringify(result.errors) : null)
  ])
}

const results = {
  columns: 'row, outcome, lead_id, errors',
  from: 'ledger.lead_import_results',
  key: 'row',
  item: "json_build_object('row', row, 'outcome', outcome, 'lead_id', lead_id, 'errors', errors)"
}

/** In the order of the rows. The caller has checked whose import it is. */
export async function listResults (pool: Pool, importId: string, page: Page): Promise<Paged<RowResult>> {
  return await readPage<RowResult>(pool, {
    ...results,
    from: fromOf(importId),
    own: [],
    order: { direction: 'ASC', by: { row: 'bigint' } }
  }, page)
}

/** Visits all results, part by part, in one snapshot. */
export async function eachResult (
  pool: Pool, importId: string, visit: (results: RowResult[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  const query = { ...results, from: fromOf(importId), own: [['true']] as const, order: 'row', type: 'integer' }
  await inSnapshot(pool, (snapshot) => eachPart(snapshot, query, visit, signal))
}

/** `row` is a key only within an import. @param importId a UUID that the caller has looked up */
const fromOf = (importId: string) => {
  if (!/^[0-9a-f-]{36}$/.test(importId)) throw new RangeError('an import has a UUID')
  return `(SELECT * FROM ledger.lead_import_results WHERE import_id = '${importId}') AS results`
}
