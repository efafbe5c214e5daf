// What readers ask about calls.
import type { Pool } from 'pg'
import type { CallCompleted, CallStatus } from '../src/domain/call/events.js'
import type { CallSummary, KeptReport } from '../src/domain/call/summary.js'
import { eachPart } from '../src/postgres/each-part.js'
import { beginning, readPage, type Conditions, type Filter, type Page, type Paged } from '../src/postgres/page.js'
import { inSnapshot } from '../src/postgres/transaction.js'
import { foldedName } from './folding/folded-name.js'

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
  /** How the name of the customer begins, as the lead or contact has it now, whatever its case. */
  namePrefix?: string | undefined
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
    ...conditionsOf(filter),
    order: { direction: 'DESC', by: { ended_at: 'timestamptz', position: 'bigint' } },
    item: 'summary'
  }, page)
}

/** Hands on all calls of the user's assistants by their ids, from one snapshot. */
export async function eachCall (
  db: Pool, filter: CallFilter, visit: (calls: CallSummary[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  await inSnapshot(db, (snapshot) => eachPart<CallSummary>(snapshot, {
    columns: 'summary',
    from: 'read_model.calls',
    key: 'id',
    order: 'id COLLATE "C"',
    type: 'text',
    ...conditionsOf(filter),
    item: 'summary'
  }, visit, signal))
}

function conditionsOf (filter: CallFilter): Conditions {
  return {
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
      ...named(filter),
      ['ended_at >= ?', filter.endedFrom],
      ['ended_at <= ?', filter.endedTo],
      ['updated_at >= ?', filter.updatedFrom]
    ]
  }
}

/** Of persons with the name, also of those who were deleted since: their calls are still there. */
function named ({ userId, namePrefix }: CallFilter): Filter[] {
  const bounds = beginning('folded_name', namePrefix && foldedName(namePrefix))
  const theirs = bounds.map(([condition]) => condition).join(' AND ')
  const isTheirs = `lead_id IN (SELECT id FROM read_model.leads WHERE user_id = ? AND ${theirs})`
  return [[isTheirs, userId, ...bounds.flatMap(([, ...values]) => values)]]
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
