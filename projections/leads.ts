// Leads and their secondary contacts; a call changes the status of the person that it reached.
import type { CallCompleted } from '../src/domain/call/events.js'
import type { ContactVariables, LeadEvent } from '../src/domain/lead/events.js'
import { laterOf } from '../src/domain/time/later-of.js'
import { afterCall, type Calling } from '../src/domain/lead/after-call.js'
import { leadOf } from '../src/domain/lead/evolve.js'
import { CannotProject, type LogPosition, type Projection, type Rows, type RowKey } from './engine/projection.js'
import { table } from './engine/table.js'

/** A lead, or a secondary contact: then `primary_id` is its lead and `place` its number among the contacts. */
export interface LeadRow extends Calling {
  id: number
  primary_id: number | null
  place: number
  user_id: string
  campaign_id: number
  phone_number: string
  variables: ContactVariables
  stream: string
  created_at: string
  updated_at: string
}

const leadTable = table<LeadRow>({
  name: 'leads',
  key: 'id',
  columns: {
    id: 'bigint',
    primary_id: 'bigint',
    place: 'integer',
    user_id: 'text',
    campaign_id: 'bigint',
    phone_number: 'text',
    variables: 'json',
    status: 'text',
    stream: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    newest_report_at: 'timestamptz'
  },
  indexes: [
    '(user_id, created_at DESC, id DESC) INCLUDE (campaign_id, status, phone_number) WHERE primary_id IS NULL',
    '(user_id, campaign_id, created_at DESC, id DESC) INCLUDE (status, phone_number) WHERE primary_id IS NULL',
    '(user_id, phone_number COLLATE "C") WHERE primary_id IS NULL',
    '(primary_id, place) WHERE primary_id IS NOT NULL'
  ]
})

/** The owner of each assistant: a call changes the status of a lead of the same user only. */
const ownerTable = table<{ assistant_id: number, user_id: string }>({
  name: 'assistant_owners',
  key: 'assistant_id',
  columns: { assistant_id: 'bigint', user_id: 'text' },
  internal: true
})

/** Also kept by the catalogue; here as well, so that a lead and the name of its campaign are of one position. */
const campaignTable = table<{ campaign_id: number, name: string }>({
  name: 'lead_campaigns',
  key: 'campaign_id',
  columns: { campaign_id: 'bigint', name: 'text' }
})

/** Calls that were reported: a second report of a call changes no lead. */
const callTable = table<{ call_id: string }>({
  name: 'lead_calls', key: 'call_id', columns: { call_id: 'text' }, internal: true
})

export const leads: Projection = {
  name: 'leads',
  version: 4,
  eventTypes: ['AssistantCreated', 'CampaignCreated', 'CampaignRenamed', 'LeadCreated', 'CallCompleted'],
  tables: [leadTable, ownerTable, campaignTable, callTable],
  keys (event, { revision }) {
    switch (event.type) {
      case 'LeadCreated': return idsOf(event).map((id) => [leadTable, id])
      case 'CallCompleted': {
        const { call_id, assistant_id, lead_id } = event.data
        const keys: RowKey[] = [[ownerTable, assistant_id]]
        if (lead_id !== null) keys.push([leadTable, lead_id])
        if (revision > 0n) keys.push([callTable, call_id])
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
        const { campaign_id, name } = event.data
        return rows.put(campaignTable, { campaign_id, name })
      }
      case 'LeadCreated': return addLead(event, at, rows)
      case 'CallCompleted': return moveStatus(event.data, at, rows)
      default:
    }
  },
  idsSeen (event) {
    if (event.type !== 'LeadCreated') return undefined
    return { sequence: 'ledger.lead_ids', id: Math.max(...idsOf(event)) }
  }
}

const idsOf = ({ data }: LeadEvent) => [data.lead_id, ...data.secondary_contacts.map(({ id }) => id)]

function addLead (event: LeadEvent, { stream }: LogPosition, rows: Rows): void {
  const { secondary_contacts, ...lead } = leadOf(event)
  const shared = { user_id: lead.user_id, campaign_id: lead.campaign_id, stream, newest_report_at: null }
  const added: LeadRow[] = [
    { ...lead, ...shared, primary_id: null, place: 0 },
    ...secondary_contacts.map((contact, index) => ({ ...contact, ...shared, primary_id: lead.id, place: index + 1 }))
  ]
  const taken = added.map(({ id }) => rows.get(leadTable, id)).find((known) => known && known.stream !== stream)
  if (taken) throw new CannotProject(`lead id ${taken.id} already belongs to ${taken.stream}`)
  for (const row of added) {
    if (!rows.get(leadTable, row.id)) rows.put(leadTable, row)
  }
}

function moveStatus (call: CallCompleted, { revision, created }: LogPosition, rows: Rows): void {
  const { call_id, lead_id } = call
  // Reported again. The revision alone does not say so: an engine may have written events of its own before a report.
  if (revision > 0n && rows.get(callTable, call_id)) return
  rows.put(callTable, { call_id })
  const lead = lead_id === null ? undefined : rows.get(leadTable, lead_id)
  if (!lead || rows.get(ownerTable, call.assistant_id)?.user_id !== lead.user_id) return
  const after = afterCall(lead, call)
  if (!after) return
  const updated_at = after.status === lead.status ? lead.updated_at : laterOf(lead.updated_at, created.toISOString())
  rows.put(leadTable, { ...lead, ...after, updated_at })
}
