// Calls as the owners of their assistants have them.
import type { CallCompleted } from '../src/domain/call/events.js'
import type { LeadCreatedEvent, LeadUpdatedEvent } from '../src/domain/lead/events.js'
import { isPhoneNumber } from '../src/domain/json.js'
import { summarizeCall, type CalledLead, type CallSummary } from '../src/domain/call/summary.js'
import type { LogPosition, Projection, Rows, RowKey } from './engine/projection.js'
import { table } from './engine/table.js'

/** `user_id` is null while the assistant is unknown, `lead_id` where the lead is not the same user's. */
interface CallRow {
  id: string
  user_id: string | null
  assistant_id: number
  lead_id: number | null
  status: string
  direction: string
  /** Of the person: the called number of an outbound call. Null where the engine gave no number in E.164. */
  phone_number: string | null
  /** That the lead was created in. */
  campaign_id: number | null
  ended_at: string
  /** When it was recorded: nothing changes a call. */
  updated_at: string
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
    direction: 'text',
    phone_number: 'text',
    campaign_id: 'bigint',
    ended_at: 'timestamptz',
    updated_at: 'timestamptz',
    summary: 'json',
    report: 'json',
    position: 'bigint'
  },
  indexes: [
    '(user_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, assistant_id, ended_at DESC, position DESC) INCLUDE (id, status, direction)',
    '(user_id, lead_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE lead_id IS NOT NULL',
    '(user_id, campaign_id, ended_at DESC, position DESC) INCLUDE (id, status, direction) WHERE campaign_id IS NOT NULL',
    '(user_id, phone_number COLLATE "C") WHERE phone_number IS NOT NULL',
    '(user_id, updated_at)'
  ]
})

const assistantOwners = table<{ assistant_id: number, user_id: string }>({
  name: 'assistant_owners', key: 'assistant_id', columns: { assistant_id: 'bigint', user_id: 'text' }, internal: true
})
/** Of leads and secondary contacts: these have a primary lead. */
const leadOwners = table<{ lead_id: number, user_id: string, primary_lead_id: number | null, campaign_id: number }>({
  name: 'lead_owners',
  key: 'lead_id',
  columns: { lead_id: 'bigint', user_id: 'text', primary_lead_id: 'bigint', campaign_id: 'bigint' },
  internal: true
})

export const calls: Projection = {
  name: 'calls',
  version: 4,
  eventTypes: ['AssistantCreated', 'LeadCreated', 'LeadUpdated', 'CallCompleted'],
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
      case 'LeadCreated': return addLeadOwner(event.data, rows)
      case 'LeadUpdated': return addContactOwners(event.data, event.data.changes, rows)
      case 'CallCompleted': return addCall(event.data, at, rows)
      default:
    }
  }
}

function addLeadOwner (data: LeadCreatedEvent['data'], rows: Rows): void {
  const { lead_id, user_id, campaign_id } = data
  rows.put(leadOwners, { lead_id, user_id, primary_lead_id: null, campaign_id })
  addContactOwners(data, data, rows)
}

function addContactOwners (
  { lead_id: primary_lead_id, user_id, campaign_id }: { lead_id: number, user_id: string, campaign_id: number },
  { secondary_contacts = [] }: LeadUpdatedEvent['data']['changes'], rows: Rows
): void {
  for (const { id } of secondary_contacts) rows.put(leadOwners, { lead_id: id, user_id, primary_lead_id, campaign_id })
}

function addCall (report: CallCompleted, { revision, position, created }: LogPosition, rows: Rows): void {
  const { call_id, assistant_id, lead_id, status, direction, ended_at } = report
  // Reported again. The revision alone does not say so: an engine may have written events of its own before a report.
  if (revision > 0n && rows.get(callTable, call_id)) return
  const owner = rows.get(assistantOwners, assistant_id)?.user_id ?? null
  const known = lead_id === null ? undefined : rows.get(leadOwners, lead_id)
  const lead: CalledLead | null = known && known.user_id === owner
    ? { id: known.lead_id, ...(known.primary_lead_id !== null && { primary_lead_id: known.primary_lead_id }) }
    : null
  rows.put(callTable, {
    id: call_id,
    user_id: owner,
    assistant_id,
    lead_id: lead?.id ?? null,
    status,
    direction,
    phone_number: numberOf(report),
    campaign_id: lead && known ? known.campaign_id : null,
    ended_at,
    updated_at: created.toISOString(),
    summary: summarizeCall(report, lead),
    report,
    position: String(position)
  })
}

function numberOf ({ direction, from, to }: CallCompleted): string | null {
  const number = direction === 'outbound' ? to : from
  return isPhoneNumber(number) ? number : null
}
