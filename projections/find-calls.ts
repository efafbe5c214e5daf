// What readers ask about calls.
import type { Pool } from 'pg'
import type { CallCompleted, CallStatus } from '../src/domain/call/events.js'
import type { CallSummary } from '../src/domain/call/summary.js'
import { readPage, type Page, type Paged } from '../src/postgres/page.js'

export interface CallFilter {
  userId: string
  assistantId?: number | undefined
  leadId?: number | undefined
  status?: CallStatus | undefined
  /** ISO 8601, both included. */
  endedFrom?: string | undefined
  endedTo?: string | undefined
}

/** A page of the calls of the user's assistants, those that ended last first. */
export async function findCalls (db: Pool, filter: CallFilter, page: Page): Promise<Paged<CallSummary>> {
  const { userId, assistantId, leadId, status, endedFrom, endedTo } = filter
  return await readPage(db, {
    columns: 'summary, ended_at, position',
    from: 'read_model.calls',
    key: 'id',
    filters: [
      ['user_id = ?', userId],
      ['assistant_id = ?', assistantId],
      ['lead_id = ?', leadId],
      ['status = ?', status],
      ['ended_at >= ?', endedFrom],
      ['ended_at <= ?', endedTo]
    ],
    order: { direction: 'DESC', by: { ended_at: 'timestamptz', position: 'bigint' } },
    item: 'summary'
  }, page)
}

export interface CallFound { summary: CallSummary, report: CallCompleted }

/** The call, when it was made by one of the user's assistants. */
export async function findCall (db: Pool, userId: string, callId: string): Promise<CallFound | undefined> {
  const { rows } = await db.query<CallFound>({
    name: 'find-call',
    text: 'SELECT summary, report FROM read_model.calls WHERE id = $1 AND user_id = $2',
    values: [callId, userId]
  })
  return rows[0]
}
