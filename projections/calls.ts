// Calls as the owners of their assistants read them.
import type { Pool } from 'pg'
import type { CallCompleted, CallStatus } from '../src/domain/call/events.js'
import type { LeadEvent } from '../src/domain/lead/events.js'
import { summarizeCall, type CallSummary } from '../src/domain/call/summary.js'
import { readPage, type Page, type Paged } from '../src/postgres/page.js'
import type { LogPosition, Projection, Rows, RowKey } from './engine/projection.js'
import { table } from './engine/table.js'

/** `user_id` is null while the assistant is unknown, `lead_id` where the lead is not the same user's. */
interface CallRow {
  id: string
  user_id: string | null
  assistant_id: number
  lead_id: number | null
  status: string
  ended_at: string
  summary: CallSummary
  report: CallCompleted
  position: string
}

const callTable = table<CallRow>({
  name: 'calls',
  key: 'id',
  columns: {
    id: 'text',
    user_id: 'text',
    assistant_id: 'bigint',
    lead_id: 'bigint',
    status: 'text',
    ended_at: 'timestamptz',
    summary: 'json',
    report: 'json',
    position: 'bigint'
  },
  indexes: [
    '(user_id, ended_at DESC, position DESC) INCLUDE (id, status)',
    '(user_id, assistant_id, ended_at DESC, position DESC) INCLUDE (id, status)',
    '(user_id, lead_id, ended_at DESC, position DESC) INCLUDE (id, status) WHERE lead_id IS NOT NULL'
  ]
})

const assistantOwners = table<{ assistant_id: number, user_id: string }>({
  name: 'assistant_owners', key: 'assistant_id', columns: { assistant_id: 'bigint', user_id: 'text' }, internal: true
})
const leadOwners = table<{ lead_id: number, user_id: string }>({
  name: 'lead_owners', key: 'lead_id', columns: { lead_id: 'bigint', user_id: 'text' }, internal: true
})

export const calls: Projection = {
  name: 'calls',
  version: 2,
  eventTypes: ['AssistantCreated', 'LeadCreated', 'CallCompleted'],
  tables: [callTable, assistantOwners, leadOwners],
  keys (event, { revision }) {
    if (event.type !== 'CallCompleted') return []
    const { call_id, assistant_id, lead_id } = event.data
    const keys: RowKey[] = [[assistantOwners, assistant_id]]
    if (lead_id !== null) keys.push([leadOwners, lead_id])
    if (revision > 0n) keys.push([callTable, call_id])
    return keys
  },
  project (event, at, rows) {
    switch (event.type) {
      case 'AssistantCreated': {
        const { assistant_id, user_id } = event.data
        return rows.put(assistantOwners, { assistant_id, user_id })
      }
      case 'LeadCreated': return addOwners(event.data, rows)
      case 'CallCompleted': return addCall(event.data, at, rows)
      default:
    }
  }
}

function addOwners ({ lead_id, user_id, secondary_contacts }: LeadEvent['data'], rows: Rows): void {
  rows.put(leadOwners, { lead_id, user_id })
  for (const { id } of secondary_contacts) rows.put(leadOwners, { lead_id: id, user_id })
}

function addCall (report: CallCompleted, { revision, position }: LogPosition, rows: Rows): void {
  const { call_id, assistant_id, lead_id, status, ended_at } = report
  // Reported again. The revision alone does not say so: an engine may have written events of its own before a report.
  if (revision > 0n && rows.get(callTable, call_id)) return
  const owner = rows.get(assistantOwners, assistant_id)?.user_id ?? null
  const leadOwner = lead_id === null ? null : rows.get(leadOwners, lead_id)?.user_id
  const ownLead = owner !== null && leadOwner === owner ? lead_id : null
  rows.put(callTable, {
    id: call_id,
    user_id: owner,
    assistant_id,
    lead_id: ownLead,
    status,
    ended_at,
    summary: summarizeCall(report, ownLead),
    report,
    position: String(position)
  })
}

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
