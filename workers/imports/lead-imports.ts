// Imports leads as durable work: part by part, rows of different contacts in parallel.
import { takesLeads } from '../../projections/catalog.js'
import type { Blacklists } from '../../src/commands/phone-numbers.js'
import type { HandleCommand } from '../../src/commands/handle.js'
import type { Ids } from '../../src/commands/ids.js'
import { leadImportStream } from '../../src/features/imports/events.js'
import { endDecider, type ImportCounts } from '../../src/features/imports/model.js'
import { importLead, listedOf } from '../../src/features/leads/import.js'
import { uuidV5 } from '../../src/log/stored.js'
import type { Services } from '../../src/services/services.js'
import type { BackgroundKind, Turn } from '../work/kind.js'
import {
  beginPart, nextPart, removeOrphans, removePart, removeUnused, type Part, type SentLead, type SentRow, addResults,
  withinBytes, type RowOutcome
} from './rows.js'
import { setTimeout as delay } from 'node:timers/promises'

export const leadImportKind = 'lead-import'

/** Days that an import and the results of its rows stay readable after its end. */
const importDays = 30

interface ImportInput { upload_id: string, campaign_id: number }

/** As `GET /user/lead-import/{id}` shows it. */
export interface ImportProgress extends ImportCounts {
  processed: number
  /** Bytes of stored errors of its rows. */
  kept?: number
}

/** Rows are commands, as those of the API are. */
interface ImportWork extends Pick<Services, 'pool' | 'consumerPool' | 'streams' | 'positions' | 'phoneHash'> {
  handle: HandleCommand
  ids: Ids
  blacklists: Blacklists
  /** Called with the outcomes of a part's rows once they are stored. */
  onRows (outcomes: ReadonlyArray<RowOutcome['outcome']>): void
}

/** An import waits no longer for the read model, as the projector may be away. */
const readersWithinMs = 2_000

const noRows: Omit<ImportProgress, 'total'> = { processed: 0, created: 0, duplicates: 0, invalid: 0 }
export const nothingDone = (total: number): ImportProgress => ({ total, ...noRows })

export function leadImports (imports: ImportWork): BackgroundKind<ImportInput, ImportProgress> {
  const { consumerPool: pool, streams, handle } = imports
  return {
    keepDays: importDays,
    async work ({ id: importId, userId, input, progress }, turn) {
      const { upload_id: uploadId, campaign_id: campaignId } = input
      let done = { ...nothingDone(0), ...progress }
      while (done.processed < done.total) {
        const part = await nextPart(pool, uploadId)
        if (!part) throw new Error(`the rows of import ${importId} are gone`)
        const hasBegun = part.ids !== undefined // some of its leads may be in the log: their rows must say so
        const isCampaignDeleted = !await takesLeads(imports, userId, campaignId)
        if (isCampaignDeleted && !hasBegun) return { state: 'failed', reason: 'The campaign was deleted.' }
        done = await importPart(imports, { importId, userId, uploadId, isCampaignDeleted }, part, done, turn)
        if (turn.isOver()) return 'again'
      }
      return { state: 'completed' }
    },
    async finish ({ id: importId, userId, input, progress }, ended, at) {
      const counts = { ...nothingDone(0), ...progress }
      const reason = ended.state === 'failed' ? ended.reason : null
      await handle({
        aggregate: endDecider,
        stream: leadImportStream(importId),
        decide: (state) => endDecider.decide({ type: 'end', ...counts, reason, now: at }, state),
        origin: { commandId: uuidV5(importId, 'end'), correlationId: importId, userId }
      })
      if (input.upload_id !== undefined) await removeUnused(pool, input.upload_id)
    },
    wasAccepted: async (importId) => await streams.last(leadImportStream(importId)) !== undefined,
    tidy: () => removeOrphans(pool)
  }
}

type ImportOfPart = Record<'importId' | 'userId' | 'uploadId', string> & { isCampaignDeleted: boolean }

/** Stores the ids before the first row begins, so that a repeated row finds its events and gets the same ids. */
async function importPart (
  imports: ImportWork, { importId, userId, uploadId, isCampaignDeleted }: ImportOfPart, part: Part,
  done: ImportProgress, turn: Turn<ImportProgress>
): Promise<ImportProgress> {
  const { consumerPool: pool, positions, blacklists } = imports
  const { firstRow } = part
  const needed = part.leads.reduce((sum, lead) => sum + idsFor(lead), 0)
  const { ids, leads } = await beginPart(pool, uploadId, firstRow, part.ids ?? await imports.ids.take('lead', needed))
  let taken = 0 // some may be left over if an erasure has refused a row since they were counted
  const idsOf = new Map(leads.map((lead) => [lead, ids.slice(taken, taken += idsFor(lead))]))
  const shared = { importId, userId, listed: await listedOf(blacklists, userId, leads), isCampaignDeleted }
  const written = await importRows(leads, (submitted) => importLead(imports, {
    ...shared,
    commandId: uuidV5(importId, `row ${submitted.row}`),
    submitted,
    ids: idsOf.get(submitted) ?? [],
    isRetry: part.ids !== undefined // an earlier try began, so its events may be in the log
  }), turn.signal)
  const last = written.reduce((latest, { position = 0n }) => position > latest ? position : latest, 0n)
  if (last > 0n) await positions.reached('leads', last, readersWithinMs) // back-pressure: others' reads stay current
  const { outcomes, bytes } = withinBytes(written.map(({ outcome }) => outcome), done.kept ?? 0)
  const next = { ...counted(done, outcomes), kept: bytes }
  await turn.keep(next, async (tx) => {
    await addResults(tx, importId, leads.map(({ row }) => row), outcomes)
    await removePart(tx, uploadId, firstRow)
  })
  imports.onRows(outcomes.map(({ outcome }) => outcome))
  return next
}

/** One for the lead and one for each secondary contact; none for a refused row. */
const idsFor = ({ body: { secondary_contacts = [] }, refused }: SentLead) => refused ? 0 : 1 + secondary_contacts.length

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

/**
 * Rows in flight at once. They share commits of the event store and batches of the projections. The more there are, the
 * cheaper is each, and the longer others wait for the CPU.
 */
const atOnce = 24
/** The import then pauses for this part of the time that they took, so it pauses longer on a busy machine. */
const rest = 1 / 2
const longestRestMs = 250

/**
 * @returns the result of each row, in order. If one throws, no further row begins, and this throws once the running
 * ones have ended.
 */
export async function importRows<Result> (
  rows: readonly SentRow[], work: (row: SentRow) => Promise<Result>, signal: AbortSignal
): Promise<Result[]> {
  const results: Result[] = []
  for (let from = 0; from < rows.length; from += atOnce) {
    signal.throwIfAborted()
    const began = performance.now()
    const lastOf = new Map<string, Promise<Result>>() // a row of a contact begins when the one before it has ended
    const ended = await Promise.allSettled(rows.slice(from, from + atOnce).map((row) => {
      const contact = String(row.body.phone_number)
      const before = lastOf.get(contact)
      const done = before ? before.then(() => work(row)) : work(row)
      lastOf.set(contact, done)
      return done
    }))
    for (const each of ended) {
      if (each.status === 'rejected') throw each.reason
      results.push(each.value)
    }
    await delay(Math.min(longestRestMs, rest * (performance.now() - began)))
  }
  return results
}
