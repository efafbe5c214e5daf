// Calls as the owners of their assistants have them.
import type { CallCompleted, CallErased } from '../src/features/calls/events.js'
import type { EventType } from '../src/domain/events.js'
import { isOneOf } from '../src/log/follow.js'
import { isPhoneNumber } from '../src/domain/json.js'
import { type CalledLead, summarizeCall, summarizeErased } from '../src/features/calls/model.js'
import { erasedIds } from '../src/features/leads/events.js'
import { isUnreadable } from '../src/domain/sealed/left.js'
import {
  addContactOwners, addLeadOwner, assistantOwners, calledLead, contactIdsIn, keepOwners, leadOwners
} from './call-owners.js'
import { callTable, type CallRow } from './calls/call-table.js'
import type { LogPosition, Projection, Rows, RowKey } from './folding/projection.js'

export const calls: Projection = {
  name: 'calls',
  version: 10,
  eventTypes: ['AssistantCreated', 'LeadCreated', 'LeadUpdated', 'LeadErased', 'CallCompleted', 'CallErased'],
  // Of these only owners are noted, for calls to come.
  isUnhurried: isOneOf<EventType>('AssistantCreated', 'LeadCreated', 'LeadUpdated'),
  tables: [callTable, assistantOwners, leadOwners],
  keys (event, { revision }) {
    if (event.type === 'LeadUpdated') return contactIdsIn(event.data).map((id) => [leadOwners, id])
    if (event.type === 'LeadErased') return erasedIds(event).map((id) => [leadOwners, id])
    if (event.type !== 'CallCompleted' && event.type !== 'CallErased') return []
    const { call_id, assistant_id, lead_id } = event.data
    const keys: RowKey[] = [[assistantOwners, assistant_id]]
    if (lead_id !== null) keys.push([leadOwners, lead_id])
    if (event.type === 'CallErased' || revision > 0n) keys.push([callTable, call_id])
    return keys
  },
  project (event, at, rows) {
    switch (event.type) {
      case 'AssistantCreated': {
        const { assistant_id, user_id } = event.data
        return rows.put(assistantOwners, { assistant_id, user_id })
      }
      case 'LeadCreated': return addLeadOwner(event.data, rows)
      case 'LeadUpdated': return addContactOwners(event.data, event.data.changes, rows)
      case 'LeadErased': return keepOwners(event, rows)
      case 'CallCompleted': return addCall(event.data, at, rows)
      case 'CallErased': return eraseCall(event.data, at, rows)
      default:
    }
  }
}

function addCall (report: CallCompleted, at: LogPosition, rows: Rows): void {
  // Reported again. The revision alone does not say so: an engine may have written events of its own before a report.
  const known = at.revision > 0n ? rows.get(callTable, report.call_id) : undefined
  if (known?.report) return addReport(report, at, rows, { ...known, report: known.report })
  if (known) return rows.put(callTable, { ...known, is_to_erase: true }) // of an erased call the log has it once more
  const { row, lead, isOfErased } = placeOf(report, at, rows)
  // What is nobody's nobody could erase later: it is not kept either.
  const isKept = !isOfErased && row.user_id !== null
  if (!isKept) return rows.put(callTable, { ...erasedRow(report, row, lead), is_to_erase: true })
  const summary = summarizeCall(report, lead)
  const phone_number = numberOf(report)
  rows.put(callTable, { ...row, phone_number, summary, report, is_to_erase: false, names_others: false })
}

/** Readers keep the first report; an erasure has to find whom the others name. */
function addReport (
  report: CallCompleted, at: LogPosition, rows: Rows, known: CallRow & { report: CallCompleted }
): void {
  const { row, isOfErased } = placeOf(report, at, rows)
  const is_to_erase = known.is_to_erase || (isOfErased && row.user_id === known.user_id)
  const isSame = (['from', 'to', 'lead_id'] as const).every((field) => report[field] === known.report[field])
  if (is_to_erase || !isSame) rows.put(callTable, { ...known, is_to_erase, names_others: true })
}

/**
 * The row follows from this event alone: whatever of the call is in the log before, a replay ends with the same. A
 * report whose key ended before it was read is still there: others may have read it.
 */
function eraseCall (call: CallErased, at: LogPosition, rows: Rows): void {
  const { row, lead } = placeOf(call, at, rows)
  rows.put(callTable, { ...erasedRow(call, row, lead), is_to_erase: isUnreadable(at) && row.user_id !== null })
}

const erasedRow = <Place extends object>(call: CallCompleted | CallErased, row: Place, lead: CalledLead | null) =>
  ({ ...row, phone_number: null, summary: summarizeErased(call, lead), report: null, names_others: false })

/** Whose call it is, and of which lead, as the rows have it. */
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
