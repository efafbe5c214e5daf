// Leads, their secondary contacts, and which numbers must not be called. A call changes the status of the person that
// it reached.
import { blacklistEventTypes } from '../src/features/blacklist/events.js'
import { type CallCompleted, type CallErased, callEventTypes } from '../src/features/calls/events.js'
import { afterCall } from '../src/features/leads/model.js'
import type { DomainEvent } from '../src/domain/events.js'
import { type LeadEvent, leadEventTypes } from '../src/features/leads/events.js'
import { laterOf } from '../src/domain/time/later-of.js'
import { blacklistTable, entryKey, projectEntry } from './blacklist/entries.js'
import type { LogPosition, Projection, Rows, RowKey } from './folding/projection.js'
import { table } from './folding/table.js'
import { addUnreadable, eraseLead, leadLeft } from './erased-leads.js'
import { addLead, changeStatus, deleteLead, idsOf, leadTable, updateLead } from './lead-rows.js'

/** The owner of each assistant: a call changes the status of a lead of the same user only. */
const ownerTable = table<{ assistant_id: number, user_id: string }>({
  name: 'assistant_owners',
  key: 'assistant_id',
  columns: { assistant_id: 'bigint', user_id: 'text' },
  internal: true
})

/** Also kept by the catalogue; here as well, so that a lead and the name of its campaign are of one position. */
const campaignTable = table<{ campaign_id: number, name: string, user_id: string, renamed_at: string | null }>({
  name: 'lead_campaigns',
  key: 'campaign_id',
  columns: { campaign_id: 'bigint', name: 'text', user_id: 'text', renamed_at: 'timestamptz' },
  indexes: ['(user_id, renamed_at) WHERE renamed_at IS NOT NULL']
})

/** Calls that were reported: a second report of a call changes no lead. */
const callTable = table<{ call_id: string }>({
  name: 'lead_calls', key: 'call_id', columns: { call_id: 'text' }, internal: true, isMostlyNew: true
})

export const leads: Projection = {
  name: 'leads',
  version: 15,
  eventTypes: [
    'AssistantCreated', 'CampaignCreated', 'CampaignRenamed', ...leadEventTypes, ...blacklistEventTypes,
    ...callEventTypes
  ],
  // Of a call that names no lead is only noted that it was reported.
  isUnhurried: ({ type, data }) => type === 'CallCompleted' && (data as Partial<CallCompleted>).lead_id === null,
  creating: ['LeadCreated'],
  tables: [leadTable, ownerTable, campaignTable, callTable, blacklistTable],
  keys (event, { stream, revision }) {
    switch (event.type) {
      case 'LeadCreated':
      case 'LeadUpdated':
      case 'LeadStatusChanged':
      case 'LeadDeleted':
      case 'LeadErased': return idsOf(event).map((id) => [leadTable, id])
      case 'PhoneNumberBlacklisted':
      case 'PhoneNumberUnblacklisted':
      case 'BlacklistEntryErased': return [[blacklistTable, entryKey(stream, event.data)]]
      case 'CallCompleted':
      case 'CallErased': {
        const { call_id, assistant_id, lead_id } = event.data
        const keys: RowKey[] = [[ownerTable, assistant_id]]
        if (lead_id !== null) keys.push([leadTable, lead_id])
        if (event.type === 'CallErased' || revision > 0n) keys.push([callTable, call_id])
        return keys
      }
      default: return []
    }
  },
  project (event, at, rows) {
    switch (event.type) {
      case 'AssistantCreated': {
        const { assistant_id, user_id } = event.data
        return rows.put(ownerTable, { assistant_id, user_id })
      }
      case 'CampaignCreated':
      case 'CampaignRenamed': {
        const { campaign_id, name, user_id } = event.data
        const renamed_at = event.type === 'CampaignRenamed' ? at.created.toISOString() : null
        return rows.put(campaignTable, { campaign_id, name, user_id, renamed_at })
      }
      case 'LeadCreated': {
        addLead(event, at, rows)
        return addUnreadable(event.data, event.data.created_at, at, rows)
      }
      case 'LeadUpdated': {
        updateLead(event, at, rows)
        return addUnreadable(event.data, event.data.updated_at, at, rows)
      }
      case 'LeadStatusChanged': return changeStatus(event, at, rows)
      case 'LeadDeleted': return deleteLead(event, at, rows)
      case 'LeadErased': return eraseLead(event, at, rows)
      case 'PhoneNumberBlacklisted':
      case 'PhoneNumberUnblacklisted':
      case 'BlacklistEntryErased': return projectEntry(event, at, rows)
      case 'CallCompleted':
      case 'CallErased': return moveStatus(event.data, at, rows)
      default:
    }
  },
  idsSeen (event) {
    if (event.type === 'PhoneNumberBlacklisted' || event.type === 'BlacklistEntryErased') {
      return { sequence: 'ledger.blacklist_ids', id: event.data.blacklist_id }
    }
    return isIdGiving(event) ? { sequence: 'ledger.lead_ids', id: Math.max(...idsOf(event)) } : undefined
  }
}

const isIdGiving = (event: DomainEvent): event is LeadEvent =>
  ['LeadCreated', 'LeadUpdated', 'LeadErased'].includes(event.type)

function moveStatus (call: CallCompleted | CallErased, { revision, created }: LogPosition, rows: Rows): void {
  const { call_id, lead_id } = call
  // Reported again. The revision alone does not say so: an engine may have written events of its own before a report.
  if (revision > 0n && rows.get(callTable, call_id)) return
  rows.put(callTable, { call_id })
  const lead = lead_id === null ? undefined : rows.get(leadTable, lead_id)
  if (!lead || rows.get(ownerTable, call.assistant_id)?.user_id !== lead.user_id) return
  if (lead.status === 'deleted') return
  const left = leadLeft(lead, call)
  if (left) return rows.put(leadTable, left)
  const after = afterCall({ ...lead, status: lead.status }, call)
  if (!after) return
  const updated_at = after.status === lead.status ? lead.updated_at : laterOf(lead.updated_at, created.toISOString())
  rows.put(leadTable, { ...lead, ...after, updated_at })
}
