// What became of the rows of an import.
import type { Pool, PoolClient } from 'pg'
import type { FieldErrors } from '../../src/domain/rejection.js'
import { eachPart } from '../../src/postgres/each-part.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import { inSnapshot } from '../../src/postgres/transaction.js'

export type RowOutcome =
  | { outcome: 'created', lead_id: number }
  | { outcome: 'duplicate' }
  /** No errors where too many bytes of them are kept already. */
  | { outcome: 'invalid', errors: FieldErrors | null }

/** As it is read. */
export interface RowResult {
  row: number
  outcome: RowOutcome['outcome']
  lead_id: number | null
  errors: FieldErrors | null
}

/** Of the errors of an import, in bytes. */
export const mostErrorBytes = 20 * 2 ** 20

/** Without the errors that are too many. @param kept bytes of errors that are kept already */
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

/** A page in the order of the rows. The import is the caller's, who has looked. */
export async function listResults (pool: Pool, importId: string, page: Page): Promise<Paged<RowResult>> {
  return await readPage<RowResult>(pool, {
    ...results,
    from: fromOf(importId),
    own: [],
    order: { direction: 'ASC', by: { row: 'bigint' } }
  }, page)
}

/** All of them, part by part, from one snapshot. */
export async function eachResult (
  pool: Pool, importId: string, visit: (results: RowResult[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  const query = { ...results, from: fromOf(importId), own: [['true']] as const, order: 'row', type: 'integer' }
  await inSnapshot(pool, (snapshot) => eachPart(snapshot, query, visit, signal))
}

/** A row is a key within its import alone. @param importId a UUID, which the caller has looked up */
const fromOf = (importId: string) => {
  if (!/^[0-9a-f-]{36}$/.test(importId)) throw new RangeError('an import has a UUID')
  return `(SELECT * FROM ledger.lead_import_results WHERE import_id = '${importId}') AS results`
}
