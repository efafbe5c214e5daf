// What readers ask about calls.
import type { Pool, PoolClient } from 'pg'
import type { CallCompleted, CallStatus } from '../src/features/calls/events.js'
import type { CallSummary, KeptReport } from '../src/features/calls/model.js'
import { eachPart } from '../src/postgres/each-part.js'
import { beginning, readPage, type Conditions, type Page, type Paged } from '../src/postgres/page.js'
import { inSnapshot } from '../src/postgres/transaction.js'
import { searchedLeads } from './lead-rows.js'
import { hasWords, hitsOf, patternsOf } from './search.js'

export interface CallFilter {
  userId: string
  assistantId?: number | undefined
  leadId?: number | undefined
  status?: CallStatus | undefined
  campaignId?: number | undefined
  direction?: CallCompleted['direction'] | undefined
  /** A plus sign and the first digits of the number of the person. */
  phonePrefix?: string | undefined
  /** The same, of another filter. */
  searchedPrefix?: string | undefined
  /** Words of the lead or contact as it is now. */
  searched?: string | undefined
  /** ISO 8601, both included. */
  endedFrom?: string | undefined
  endedTo?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}

/** A page of the calls of the user's assistants, those that ended last first. */
export async function findCalls (db: Pool, filter: CallFilter, page: Page): Promise<Paged<CallSummary>> {
  return await readPage(db, {
    name: 'calls',
    columns: 'summary, ended_at, position',
    from: 'read_model.calls',
    key: 'id',
    ...await conditionsOf(db, filter),
    order: { direction: 'DESC', by: { ended_at: 'timestamptz', position: 'bigint' } },
    item: 'summary'
  }, page)
}

/** Hands on all calls of the user's assistants by their ids, from one snapshot. */
export async function eachCall (
  db: Pool, filter: CallFilter, visit: (calls: CallSummary[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  await inSnapshot(db, async (snapshot) => await eachPart<CallSummary>(snapshot, {
    columns: 'summary',
    from: 'read_model.calls',
    key: 'id',
    order: 'id COLLATE "C"',
    type: 'text',
    ...await conditionsOf(snapshot, filter),
    item: 'summary'
  }, visit, signal))
}

async function conditionsOf (db: Pool | PoolClient, filter: CallFilter): Promise<Conditions> {
  const { filters = [], matches } = await searchedBy(db, filter)
  return {
    matches,
    own: [['user_id = ?', filter.userId]],
    indexed: {
      assistant: ['assistant_id = ?', filter.assistantId],
      lead: ['lead_id = ?', filter.leadId],
      campaign: ['campaign_id = ?', filter.campaignId]
    },
    filters: [
      ['status = ?', filter.status],
      ['direction = ?', filter.direction],
      ...beginning('phone_number', filter.phonePrefix),
      ...beginning('phone_number', filter.searchedPrefix),
      ...filters,
      ['ended_at >= ?', filter.endedFrom],
      ['ended_at <= ?', filter.endedTo],
      ['updated_at >= ?', filter.updatedFrom]
    ]
  }
}

/** Of so many leads each is looked up in the index of calls. */
const mostLeads = 2_500

/** Calls of more leads are read in the order of the list, unless these show that only old calls are theirs. */
const newest = { calls: 5_000, found: 3 }

/** Of leads and contacts as they are now, also of those who were deleted since: their calls are still there. */
async function searchedBy (
  db: Pool | PoolClient, { userId, searched }: CallFilter
): Promise<Pick<Conditions, 'filters' | 'matches'>> {
  if (searched === undefined) return {}
  const few = await hitsOf(db, searchedLeads, userId, searched, mostLeads)
  const isOfThem = 'lead_id = ANY(?::bigint[])'
  if (few.length <= mostLeads) return { filters: [[isOfThem, few]], matches: 'few' }
  const patterns = patternsOf(searched)
  const isFound = `EXISTS (SELECT FROM read_model.leads WHERE id = calls.lead_id AND ${hasWords('leads')} OFFSET 0)`
  const { rowCount } = await db.query(`
    SELECT FROM (
      SELECT lead_id FROM read_model.calls WHERE user_id = $1
      ORDER BY ended_at DESC, position DESC LIMIT ${newest.calls}) calls
    WHERE ${isFound.replace('?', '$2')} LIMIT ${newest.found}`, [userId, patterns])
  if (rowCount === newest.found) return { filters: [[isFound, patterns]], matches: 'many' }
  return { filters: [[isOfThem, await hitsOf(db, searchedLeads, userId, searched)]], matches: 'many' }
}

export interface CallFound { summary: CallSummary, report: KeptReport }

/** The call, when it was made by one of the user's assistants. */
export async function findCall (db: Pool, userId: string, callId: string): Promise<CallFound | undefined> {
  const { rows } = await db.query<CallFound>({
    name: 'find-call',
    text: 'SELECT summary, report FROM read_model.calls WHERE id = $1 AND user_id = $2',
    values: [callId, userId]
  })
  return rows[0]
}
