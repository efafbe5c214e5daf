// What the routes of imports work with.
import type { FieldErrors } from '../../../domain/rejection.js'
import type { RequestedPage, Found } from '../../../http/lists/paging.js'
import type { SentLead } from './sent-leads.js'

/** How far an import is. */
export interface ImportStatus {
  id: string
  state: 'accepted' | 'completed' | 'failed'
  progress: { total?: number, processed?: number, created?: number, duplicates?: number, invalid?: number }
  reason: string | null
  created_at: Date
  finished_at: Date | null
}

/** What became of a row, which is numbered from 1. */
export interface RowResult {
  row: number
  outcome: 'created' | 'duplicate' | 'invalid'
  lead_id: number | null
  errors: FieldErrors | null
}

/** How many imports that have not ended a user may have; one is worked on, the others wait. */
export const mostImportsOfUser = 5

export interface NewImport { id: string, userId: string, uploadId: string, campaignId: number, total: number }

export interface LeadImports {
  /** Keeps leads of a body that is being read. */
  addPart (upload: { id: string, userId: string }, firstRow: number, leads: readonly SentLead[]): Promise<void>
  /** Removes those leads, unless the import has them. */
  removeUnused (uploadId: string, importId: string | undefined): Promise<void>
  /**
   * How many imports of the user have not ended; nothing of a request whose Idempotency-Key was used before, as its
   * answer may be that of the earlier one.
   */
  underWay (userId: string, key: { route: string, key: string | undefined }): Promise<number | undefined>
  /** Before its event. False when the user has too many imports that have not ended. */
  prepare (asked: NewImport): Promise<boolean>
  /** After its event: it is worked on. */
  accept (id: string): Promise<void>
  find (userId: string, id: string): Promise<ImportStatus | undefined>
  results (id: string, page: RequestedPage): Promise<Found<RowResult>>
  eachResult (id: string, visit: (results: RowResult[]) => Promise<void>, signal: AbortSignal): Promise<void>
}
