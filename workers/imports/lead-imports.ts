// Imports of leads, as requests in the background: part by part, rows of different contacts side by side.
import type { Pool } from 'pg'
import type { Listed } from '../../src/features/blacklist/model.js'
import type { ImportCounts } from '../../src/features/imports/model.js'
import type { BackgroundKind, Turn } from '../background/kind.js'
import { importRows, type Row } from './import-rows.js'
import { beginPart, nextPart, removeOrphans, removePart, removeUpload, type Part, type SentLead, type SentRow } from './parts.js'
import { addResults, withinBytes, type RowOutcome } from './results.js'

export const leadImportKind = 'lead-import'

/** Days that an import and what became of its rows can be read after its end. */
const importDays = 30

export interface ImportInput { upload_id: string, campaign_id: number }

/** As `GET /user/lead-import/{id}` shows it. */
export interface ImportProgress extends ImportCounts {
  processed: number
  /** Of the errors of its rows, in bytes. */
  kept?: number
}

/** What was written of a part, as far as readers must see it before the next one. */
export interface WrittenRow { outcome: RowOutcome, position?: bigint | undefined }

export interface LeadImportOptions {
  pool: Pool
  /** The numbers of the leads that their user does not want called. */
  listed (userId: string, leads: readonly SentLead[]): Promise<Listed>
  /** One row: validated, decided and appended, or found in the log. @throws when a back end is away */
  importLead (row: Row, importing: Importing, listed: Listed): Promise<WrittenRow>
  takeIds (count: number): Promise<number[]>
  /** Why the campaign takes no lead any more; nothing while it does. */
  campaignProblem (userId: string, campaignId: number): Promise<string | undefined>
  /** Waits for a bounded time until readers see the position, so that nobody else's reads fall behind an import. */
  awaitReaders (position: bigint): Promise<void>
  /** Appends how it ended, once. */
  end (importing: Omit<Importing, 'campaignId'>, counts: ImportCounts, reason: string | null, at: string): Promise<void>
  isRequested (importId: string): Promise<boolean>
  /** Told what became of the rows of a part, once it is kept. */
  onRows (outcomes: ReadonlyArray<RowOutcome['outcome']>): void
}

/** What all rows of an import have in common. */
export interface Importing { importId: string, userId: string, campaignId: number }

const noRows: Omit<ImportProgress, 'total'> = { processed: 0, created: 0, duplicates: 0, invalid: 0 }
export const nothingDone = (total: number): ImportProgress => ({ total, ...noRows })

export function leadImports (options: LeadImportOptions): BackgroundKind<ImportInput, ImportProgress> {
  const { pool, campaignProblem, end, isRequested } = options
  return {
    keepDays: importDays,
    async work ({ id: importId, userId, input, progress }, turn) {
      const { upload_id: uploadId, campaign_id: campaignId } = input
      const importing = { importId, userId, campaignId }
      let done = { ...nothingDone(0), ...progress }
      while (done.processed < done.total) {
        const problem = await campaignProblem(userId, campaignId)
        if (problem !== undefined) return { state: 'failed', reason: problem }
        const part = await nextPart(pool, uploadId)
        if (!part) throw new Error(`the rows of import ${importId} are gone`)
        done = await importPart(options, importing, uploadId, part, done, turn)
        if (turn.isOver()) return 'again'
      }
      return { state: 'completed' }
    },
    async finish ({ id: importId, userId, input, progress }, ended, at) {
      await end({ importId, userId }, { ...nothingDone(0), ...progress }, ended.state === 'failed' ? ended.reason : null, at)
      if (input.upload_id !== undefined) await removeUpload(pool, input.upload_id)
    },
    wasAccepted: isRequested,
    tidy: () => removeOrphans(pool)
  }
}

/** Its ids are kept before its first row is begun: what is repeated finds its events, and names the same leads. */
async function importPart (
  options: LeadImportOptions, importing: Importing, uploadId: string, part: Part, done: ImportProgress,
  turn: Turn<ImportProgress>
): Promise<ImportProgress> {
  const { pool, takeIds, importLead, awaitReaders } = options
  const { firstRow } = part
  const needed = part.leads.reduce((sum, lead) => sum + idsFor(lead), 0)
  const { ids, leads } = await beginPart(pool, uploadId, firstRow, part.ids ?? await takeIds(needed))
  const rows = rowsOf(leads, ids, part.ids !== undefined)
  const listed = await options.listed(importing.userId, leads)
  const written = await importRows(rows, (row) => importLead(row, importing, listed), turn.signal)
  const last = written.reduce((latest, { position = 0n }) => position > latest ? position : latest, 0n)
  if (last > 0n) await awaitReaders(last)
  const { outcomes, bytes } = withinBytes(written.map(({ outcome }) => outcome), done.kept ?? 0)
  const next = { ...counted(done, outcomes), kept: bytes }
  await turn.keep(next, async (tx) => {
    await addResults(tx, importing.importId, leads.map(({ row }) => row), outcomes)
    await removePart(tx, uploadId, firstRow)
  })
  options.onRows(outcomes.map(({ outcome }) => outcome))
  return next
}

/** The lead's, and one for each secondary contact; none for what is refused anyway. */
const idsFor = ({ body: { secondary_contacts = [] }, refused }: SentLead) => refused ? 0 : 1 + secondary_contacts.length

/** Ids may be left over, where an erasure has refused a row since they were counted. */
function rowsOf (leads: readonly SentRow[], ids: readonly number[], isRetry: boolean): Row[] {
  let taken = 0
  return leads.map((lead) => {
    const count = idsFor(lead)
    taken += count
    return { number: lead.row, lead, ids: ids.slice(taken - count, taken), isRetry }
  })
}

function counted (done: ImportProgress, outcomes: readonly RowOutcome[]): ImportProgress {
  const of = (kind: RowOutcome['outcome']) => outcomes.filter(({ outcome }) => outcome === kind).length
  return {
    total: done.total,
    processed: done.processed + outcomes.length,
    created: done.created + of('created'),
    duplicates: done.duplicates + of('duplicate'),
    invalid: done.invalid + of('invalid')
  }
}
