// Calls, for the owners of their assistants: the tables, how events fill them, and the queries.
import type { Pool } from 'pg'
import { isOf } from '../src/domain/events.js'
import { isPhoneNumber } from '../src/domain/json.js'
import { isUnreadable } from '../src/domain/sealed.js'
import { type CallCompleted, type CallErased, type CallEvent, callEventTypes, type CallStatus } from '../src/features/calls/events.js'
import {
  type CalledLead, type CallSummary, type KeptReport, summarizeCall, summarizeErased
} from '../src/features/calls/model.js'
import {
  erasedIds, idsOf, isErasedPerson, type LeadCreatedEvent, type LeadErasedEvent, type LeadUpdatedEvent
} from '../src/features/leads/events.js'
import { eachPart } from '../src/postgres/each-part.js'
import { beginning, type Conditions, type Page, type Paged, readPage, type Search } from '../src/postgres/page.js'
import { inSnapshot } from '../src/postgres/transaction.js'
import type { LogPosition, Projection, Rows } from './engine/projection.js'
import { orNull, type RowOf, table, typed } from './engine/table.js'
import { assistantOwners, keysOfCall, searchedLeads } from './leads.js'
import { hasMoreHits, hasWords, patternsOf, searchedCalls } from './search.js'

/** `user_id` is null while the assistant is unknown, `lead_id` if that user has no such lead. */
const callTable = table({
  name: 'calls',
  key: 'id',
  columns: {
    id: 'text',
    user_id: orNull('text'),
    assistant_id: 'bigint',
    lead_id: orNull('bigint'),
    status: 'text',
    direction: 'text',
    /** The person's number: `to` of an outbound call, otherwise `from`. Null if erased or not E.164. */
    phone_number: orNull('text'),
    /** The campaign of its lead. */
    campaign_id: orNull('bigint'),
    ended_at: 'timestamptz',
    /** When it was recorded, or its person erased: nothing else changes a call. */
    updated_at: 'timestamptz',
    summary: typed<CallSummary>('json'),
    report: typed<KeptReport>('json'),
    position: typed<string>('bigint'),
    /**
     * The log still has personal data to erase: the person was erased before the call was reported or read, or nobody
     * knows its assistant, so the row has none. Or a second report, which only the log has, names an erased person.
     */
    is_to_erase: 'boolean',
    /** The log has another report of it, with a number or lead that the row does not show. */
    names_others: 'boolean'
  },
  indexes: [
    '(user_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, assistant_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, lead_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE lead_id IS NOT NULL',
    '(user_id, campaign_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE campaign_id IS NOT NULL',
    '(user_id, phone_number COLLATE "C") WHERE phone_number IS NOT NULL',
    '(user_id, updated_at)',
    '(user_id, id COLLATE "C") WHERE is_to_erase',
    '(user_id) WHERE names_others'
  ]
})

/** Owners of leads and secondary contacts. A contact that was erased only along with its lead is not `is_erased`. */
const leadOwners = table({
  name: 'lead_owners',
  key: 'lead_id',
  columns: {
    lead_id: 'bigint', user_id: 'text', primary_lead_id: orNull('bigint'), campaign_id: 'bigint', is_erased: 'boolean'
  },
  internal: true
})

type OwnerEvent = LeadCreatedEvent | LeadUpdatedEvent | LeadErasedEvent

/** Leads and contacts whose row in `lead_owners` the event changes. */
function peopleIn (event: OwnerEvent): number[] {
  switch (event.type) {
    case 'LeadCreated': return idsOf(event)
    case 'LeadUpdated': {
      const { changes: { secondary_contacts = [] }, erased_contacts = [] } = event.data
      return [...secondary_contacts.map(({ id }) => id), ...erased_contacts]
    }
    case 'LeadErased': return erasedIds(event)
    default: return event satisfies never
  }
}

/** Owners are not personal data, so erased leads and contacts keep their rows. */
function learnOwners (event: OwnerEvent, rows: Rows): void {
  const { type, data, data: { lead_id, user_id, campaign_id } } = event
  for (const id of peopleIn(event)) {
    const isErased = type === 'LeadErased' ? isErasedPerson(data, id) : data.erased_contacts?.includes(id) === true
    const is_erased = isErased || (type !== 'LeadCreated' && rows.get(leadOwners, id)?.is_erased === true)
    const primary_lead_id = id === lead_id ? null : lead_id
    rows.put(leadOwners, { lead_id: id, user_id, primary_lead_id, campaign_id, is_erased })
  }
}

const calledLead = ({ lead_id: id, primary_lead_id }: RowOf<typeof leadOwners>): CalledLead =>
  ({ id, ...(primary_lead_id !== null && { primary_lead_id }) })

export const calls: Projection = {
  name: 'calls',
  version: 10,
  eventTypes: ['AssistantCreated', 'LeadCreated', 'LeadUpdated', 'LeadErased', 'CallCompleted', 'CallErased'],
  // These only name the owners of later calls.
  isDeferred: ({ type }) => ['AssistantCreated', 'LeadCreated', 'LeadUpdated'].includes(type),
  tables: [callTable, assistantOwners, leadOwners],
  keys (event, { revision }) {
    if (event.type === 'LeadUpdated' || event.type === 'LeadErased') return peopleIn(event).map((id) => [leadOwners, id])
    return isOf<CallEvent>(callEventTypes, event) ? keysOfCall(event, revision, leadOwners, callTable) : []
  },
  project (event, at, rows) {
    switch (event.type) {
      case 'AssistantCreated': {
        const { assistant_id, user_id } = event.data
        return rows.put(assistantOwners, { assistant_id, user_id })
      }
      case 'LeadCreated':
      case 'LeadUpdated':
      case 'LeadErased': return learnOwners(event, rows)
      case 'CallCompleted': return addCall(event.data, at, rows)
      case 'CallErased': return eraseCall(event.data, at, rows)
      default:
    }
  }
}

function addCall (report: CallCompleted, at: LogPosition, rows: Rows): void {
  // A repeated report. The revision alone does not tell: an engine may append events of its own before a report.
  const known = at.revision > 0n ? rows.get(callTable, report.call_id) : undefined
  if (known?.report) return addReport(report, at, rows, { ...known, report: known.report })
  if (known) return rows.put(callTable, { ...known, is_to_erase: true }) // an erased call was reported again
  const { row, lead, isOfErased } = placeOf(report, at, rows)
  // Without an owner, nobody could erase the report later, so the row does not keep it either.
  const isKept = !isOfErased && row.user_id !== null
  if (!isKept) return rows.put(callTable, { ...erasedRow(report, row, lead), is_to_erase: true })
  const summary = summarizeCall(report, lead)
  const phone_number = numberOf(report)
  rows.put(callTable, { ...row, phone_number, summary, report, is_to_erase: false, names_others: false })
}

/** The row keeps the first report; an erasure must still find the persons whom other reports name. */
function addReport (
  report: CallCompleted, at: LogPosition, rows: Rows, known: RowOf<typeof callTable> & { report: CallCompleted }
): void {
  const { row, isOfErased } = placeOf(report, at, rows)
  const is_to_erase = known.is_to_erase || (isOfErased && row.user_id === known.user_id)
  const isSame = (['from', 'to', 'lead_id'] as const).every((field) => report[field] === known.report[field])
  if (is_to_erase || !isSame) rows.put(callTable, { ...known, is_to_erase, names_others: true })
}

/**
 * The row follows from this event alone, so a replay ends with the same row, whatever the log still has of the call. If
 * a report was unreadable because its key was gone, the log still has it, and others may have read it.
 */
function eraseCall (call: CallErased, at: LogPosition, rows: Rows): void {
  const { row, lead } = placeOf(call, at, rows)
  rows.put(callTable, { ...erasedRow(call, row, lead), is_to_erase: isUnreadable(at) && row.user_id !== null })
}

const erasedRow = <Place extends object>(call: CallCompleted | CallErased, row: Place, lead: CalledLead | null) =>
  ({ ...row, phone_number: null, summary: summarizeErased(call, lead), report: null, names_others: false })

/** Looks up the owner and the lead of the call. */
function placeOf (call: CallCompleted | CallErased, { position, created }: LogPosition, rows: Rows) {
  const { call_id, assistant_id, lead_id, status, direction, ended_at } = call
  const owner = rows.get(assistantOwners, assistant_id)?.user_id ?? null
  const known = lead_id === null ? undefined : rows.get(leadOwners, lead_id)
  const lead = known && known.user_id === owner ? calledLead(known) : null
  const row = {
    id: call_id,
    user_id: owner,
    assistant_id,
    lead_id: lead?.id ?? null,
    status,
    direction,
    campaign_id: lead && known ? known.campaign_id : null,
    ended_at,
    updated_at: created.toISOString(),
    position: String(position)
  }
  return { row, lead, isOfErased: lead !== null && known?.is_erased === true }
}

function numberOf ({ direction, from, to }: CallCompleted): string | null {
  const number = direction === 'outbound' ? to : from
  return isPhoneNumber(number) ? number : null
}

export interface CallFilter {
  userId: string
  assistantId?: number | undefined
  leadId?: number | undefined
  status?: CallStatus | undefined
  campaignId?: number | undefined
  direction?: CallCompleted['direction'] | undefined
  /** A plus sign and the first digits of the person's number. */
  phonePrefix?: string | undefined
  /** Like `phonePrefix`; both must match. */
  searchedPrefix?: string | undefined
  /** Words of the lead or contact as it is now. */
  searched?: string | undefined
  /** ISO 8601, both included. */
  endedFrom?: string | undefined
  endedTo?: string | undefined
  /** ISO 8601, included. */
  updatedFrom?: string | undefined
}

/** A page of the user's calls; those that ended last come first. */
export async function findCalls (db: Pool, filter: CallFilter, page: Page): Promise<Paged<CallSummary>> {
  return await readPage(db, {
    name: 'calls',
    columns: 'summary, ended_at, position',
    from: 'read_model.calls',
    key: 'id',
    ...await searchOf(db, filter),
    order: { direction: 'DESC', by: { ended_at: 'timestamptz', position: 'bigint' } },
    item: 'summary'
  }, page)
}

/** Visits all matching calls in the order of their ids, in one snapshot. */
export async function eachCall (
  db: Pool, filter: CallFilter, visit: (calls: CallSummary[]) => Promise<void>, signal: AbortSignal
): Promise<void> {
  await inSnapshot(db, async (snapshot) => await eachPart<CallSummary>(snapshot, {
    name: 'calls',
    columns: 'summary',
    from: 'read_model.calls',
    key: 'id',
    order: 'id COLLATE "C"',
    type: 'text',
    ...conditionsOf(filter),
    item: 'summary'
  }, visit, signal))
}

/** Leads and contacts as they are now. Deleted ones count too: their calls are still there. */
const isFound = `EXISTS (SELECT FROM read_model.leads WHERE id = calls.lead_id AND ${hasWords('leads')} OFFSET 0)`

function conditionsOf ({ userId, searched, ...filter }: CallFilter): Conditions {
  return {
    own: [['user_id = ?', userId]],
    range: [['ended_at >= ?', filter.endedFrom], ['ended_at <= ?', filter.endedTo]],
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
      ['updated_at >= ?', filter.updatedFrom],
      [isFound, patternsOf(searched)]
    ]
  }
}

/** For up to so many leads, `searchedCalls` finds the calls, whatever the other filters are. */
const mostLeads = 2_500

/** If many leads match and there are other filters, Postgres chooses the index. */
async function searchOf (db: Pool, { searched, ...filter }: CallFilter): Promise<Conditions & { search?: Search }> {
  if (searched === undefined) return conditionsOf(filter)
  const { userId, endedFrom: _from, endedTo: _to, ...others } = filter
  const isMany = Object.values(others).some((value) => value !== undefined) &&
    await hasMoreHits(db, searchedLeads, userId, searched, mostLeads)
  if (isMany) return { ...conditionsOf({ ...filter, searched }), matches: 'many' }
  return { ...conditionsOf(filter), search: searchedCalls(userId, searched) }
}

export interface CallFound { summary: CallSummary, report: KeptReport }

export async function findCall (db: Pool, userId: string, callId: string): Promise<CallFound | undefined> {
  const { rows } = await db.query<CallFound>({
    name: 'find-call',
    text: 'SELECT summary, report FROM read_model.calls WHERE id = $1 AND user_id = $2',
    values: [callId, userId]
  })
  return rows[0]
}

/** Calls of one status in an hour; `hour` counts hours since 1970. */
export interface HourCount { hour: number, status: string, count: number }

/** Counts calls by the hour in which they ended, from <= end < to. It counts only the newest `most` + 1 calls. */
export async function countCalls (db: Pool, userId: string, from: Date, to: Date, most: number): Promise<HourCount[]> {
  const { rows } = await db.query<HourCount>({
    name: 'count-calls',
    text: `
    SELECT floor(extract(epoch FROM ended_at) / 3600)::integer AS hour, status, count(*)::integer AS count
    FROM (SELECT ended_at, status FROM read_model.calls WHERE user_id = $1 AND ended_at >= $2 AND ended_at < $3
      ORDER BY ended_at DESC, position DESC LIMIT $4 + 1) newest
    GROUP BY 1, 2`,
    values: [userId, from, to, most]
  })
  return rows
}
