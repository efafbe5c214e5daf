// Leads and their secondary contacts, one row each; find-leads.ts reads them.
import type { DomainEvent } from '../src/domain/events.js'
import { placesBeside } from '../src/domain/sealed.js'
import { laterOf } from '../src/domain/decider.js'
import { blacklistEventTypes } from '../src/features/blacklist/events.js'
import { type CallCompleted, type CallErased, callEventTypes } from '../src/features/calls/events.js'
import {
  type ContactVariables, erasedIds, idsOf, type LeadCreatedEvent, type LeadDeletedEvent, type LeadErasedEvent,
  type LeadEvent, leadEventTypes, type LeadStatus, type LeadStatusChangedEvent, type LeadUpdatedEvent
} from '../src/features/leads/events.js'
import { afterCall, type Calling, contactAfter, leadOf } from '../src/features/leads/model.js'
import { blacklistTable, entryKey, projectEntry } from './blacklist.js'
import { CannotProject, type LogPosition, type Projection, type RowKey, type Rows } from './engine/projection.js'
import { iso, table } from './engine/table.js'
import { blockIndex, calledAlso, calledIndex, type Searched, wordIndex, wordsOf } from './search.js'

/** A lead, or a secondary contact: then `primary_id` is its lead and `place` its number among the contacts. */
export interface LeadRow extends Omit<Calling, 'status'> {
  id: number
  /** Calls may still name a deleted lead or a removed contact, so its row stays. */
  status: LeadStatus | 'deleted'
  primary_id: number | null
  place: number
  user_id: string
  campaign_id: number
  phone_number: string
  variables: ContactVariables
  /** Searches compare these words of name, e-mail and number. */
  words: string
  /** When, for searches of calls. */
  called: string
  stream: string
  created_at: string
  updated_at: string
  /** The contact's key ended before this event was read, and the event of the erasure is still to come. */
  is_to_erase: boolean
  /** Stands for the number of a contact that went with its lead, until the contact is erased too. */
  number_digest: string | null
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
    words: 'text',
    called: 'text',
    status: 'text',
    stream: 'text',
    created_at: 'timestamptz',
    updated_at: 'timestamptz',
    newest_report_at: 'timestamptz',
    is_to_erase: 'boolean',
    number_digest: 'text'
  },
  indexes: [
    '(user_id, created_at DESC, id DESC) INCLUDE (campaign_id, status, phone_number) WHERE primary_id IS NULL',
    '(user_id, campaign_id, created_at DESC, id DESC) INCLUDE (status, phone_number) WHERE primary_id IS NULL',
    '(user_id, phone_number COLLATE "C")',
    wordIndex('coalesce(primary_id, id)'),
    calledIndex,
    `${blockIndex('created_at')} WHERE primary_id IS NULL`,
    '(user_id, updated_at) WHERE primary_id IS NULL',
    '(user_id, updated_at) WHERE primary_id IS NOT NULL',
    '(primary_id, place) WHERE primary_id IS NOT NULL'
  ]
})

/** A lead is found by its own words, or by those of one of its contacts. */
export const searchedLeads: Searched = {
  table: 'leads',
  those: 'primary_id IS NULL',
  id: 'coalesce(primary_id, id)',
  first: 'created_at',
  type: 'timestamptz',
  rowsOf: (hits) => `(
    SELECT leads.* FROM ${hits} hit CROSS JOIN LATERAL (
      SELECT hit.* WHERE hit.primary_id IS NULL UNION ALL
      SELECT * FROM read_model.leads WHERE id = hit.primary_id) leads
    WHERE hit.status <> 'deleted')`
}

const fresh = { called: '', newest_report_at: null, is_to_erase: false, number_digest: null }

function addLead (event: LeadCreatedEvent, { stream }: LogPosition, rows: Rows): void {
  const { secondary_contacts, ...lead } = leadOf(event)
  const places = placesBeside(secondary_contacts, event.data.erased_places)
  const shared = { user_id: lead.user_id, campaign_id: lead.campaign_id, stream, ...fresh }
  const added: LeadRow[] = [
    { ...lead, ...shared, words: wordsIn(lead), primary_id: null, place: 0 },
    ...secondary_contacts.map((contact, index) => {
      const words = wordsIn(contact)
      return { ...contact, ...shared, words, primary_id: lead.id, place: places[index] ?? 0 }
    })
  ]
  const taken = added.map(({ id }) => rows.get(leadTable, id)).find((known) => known && known.stream !== stream)
  if (taken) throw new CannotProject(`lead id ${taken.id} already belongs to ${taken.stream}`)
  for (const row of added) {
    if (!rows.get(leadTable, row.id)) rows.put(leadTable, row)
  }
}

function updateLead ({ data }: LeadUpdatedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, changes: { variables, secondary_contacts = [] }, removed_contacts, erased_places, updated_at } = data
  const lead = rowOn(stream, lead_id, rows)
  if (!lead) return
  const formers = secondary_contacts.map(({ id }) => rowOn(stream, id, rows))
  const taken = formers.find((known) => known && known.primary_id !== lead_id)
  if (taken) throw new CannotProject(`lead id ${taken.id} is no secondary contact of ${lead_id}`)
  for (const id of removed_contacts) rowOn(stream, id, rows)
  const changed = variables ? { variables, words: wordsIn({ ...lead, variables }) } : {}
  rows.put(leadTable, { ...lead, ...changed, updated_at: laterOf(lead.updated_at, updated_at) })
  const added = { user_id: lead.user_id, campaign_id: lead.campaign_id, stream, primary_id: lead_id, ...fresh }
  const places = placesBeside(secondary_contacts, erased_places)
  secondary_contacts.forEach((contact, index) => {
    const known = formers[index]
    const { status, ...after } = contactAfter(known && contactOf(known), contact, updated_at)
    const words = wordsIn(contact)
    const shown = { ...after, words, status: known?.status ?? status, place: places[index] ?? 0 }
    rows.put(leadTable, { ...added, ...known, ...shown })
  })
  for (const id of removed_contacts) putDeleted(rows, rowOn(stream, id, rows), updated_at)
}

function changeStatus ({ data }: LeadStatusChangedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, contact_id, status, changed_at } = data
  const row = rowOn(stream, contact_id ?? lead_id, rows)
  if (!row || row.status === 'deleted') return
  rows.put(leadTable, { ...row, status, updated_at: laterOf(row.updated_at, changed_at) })
}

function deleteLead ({ data }: LeadDeletedEvent, { stream }: LogPosition, rows: Rows): void {
  putDeleted(rows, rowOn(stream, data.lead_id, rows), data.deleted_at)
}

function putDeleted (rows: Rows, row: LeadRow | undefined, at: string): void {
  // A replay cannot know what an erased call left here: so a deleted row keeps nothing of calls.
  if (row) rows.put(leadTable, { ...row, status: 'deleted', newest_report_at: null, updated_at: at })
}

/** @throws CannotProject when the row is of another stream */
function rowOn (stream: string, id: number, rows: Rows): LeadRow | undefined {
  const row = rows.get(leadTable, id)
  if (row && row.stream !== stream) throw new CannotProject(`lead id ${id} already belongs to ${row.stream}`)
  return row
}

const wordsIn = ({ phone_number, variables }: Pick<LeadRow, 'phone_number' | 'variables'>) =>
  wordsOf(variables.customer_name, variables.email, phone_number)

const contactOf = ({ id, phone_number, variables, created_at, updated_at }: LeadRow) =>
  ({ id, phone_number, variables, status: 'created' as const, created_at: iso(created_at), updated_at: iso(updated_at) })

type Named = LeadCreatedEvent['data'] | LeadUpdatedEvent['data']

/** Contacts whose key has ended: somebody has to say that they are erased, as others may have read who they were. */
function addUnreadable (
  { lead_id, user_id, campaign_id, erased_contacts = [] }: Named, at: string, { stream }: LogPosition, rows: Rows
): void {
  const shared = { user_id, campaign_id, stream, created_at: at, updated_at: at }
  for (const id of erased_contacts) {
    if (rows.get(leadTable, id)) continue
    rows.put(leadTable, { ...nobody, ...shared, id, primary_id: lead_id, is_to_erase: true })
  }
}

/** What stays of a person is that there was one: that the id is taken. It follows from this event alone. */
function eraseLead (event: LeadErasedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, with_lead, contact_ids, digests = [], user_id, campaign_id, erased_at } = event.data
  const digestOf = new Map(digests.map(({ contact_id, number_digest }) => [contact_id, number_digest]))
  const [lead] = [lead_id, ...contact_ids].map((id) => rowOn(stream, id, rows))
  for (const id of erasedIds(event)) {
    rows.put(leadTable, {
      ...nobody,
      id,
      primary_id: id === lead_id ? null : lead_id,
      user_id,
      campaign_id,
      stream,
      created_at: erased_at,
      updated_at: erased_at,
      number_digest: digestOf.get(id) ?? null
    })
  }
  if (lead && !with_lead) rows.put(leadTable, { ...lead, updated_at: laterOf(lead.updated_at, erased_at) })
}

/**
 * The lead after a call of which the log has only its erasure: what it did to the lead, it did before. Nothing where
 * something came between what was told of the lead and this event: then it is as if it were reported now.
 */
function leadLeft (lead: LeadRow, call: CallCompleted | CallErased): LeadRow | undefined {
  const left = 'lead_left' in call ? call.lead_left : undefined
  if (!left || Date.parse(lead.updated_at) > Date.parse(left.updated_at)) return undefined
  const isBehind = Date.parse(lead.newest_report_at ?? '1970') > Date.parse(left.newest_report_at ?? '1970')
  return isBehind ? undefined : { ...lead, ...left }
}

const nobody = {
  place: 0,
  phone_number: '',
  variables: { customer_name: '', email: '' },
  words: '',
  called: '',
  status: 'deleted' as const,
  newest_report_at: null,
  is_to_erase: false,
  number_digest: null
}

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
  name: 'lead_calls', key: 'call_id', columns: { call_id: 'text' }, internal: true
})

export const leads: Projection = {
  name: 'leads',
  version: 16,
  eventTypes: [
    'AssistantCreated', 'CampaignCreated', 'CampaignRenamed', ...leadEventTypes, ...blacklistEventTypes,
    ...callEventTypes
  ],
  // Of a call that names no lead is only noted that it was reported.
  isDeferred: ({ type, data }) => type === 'CallCompleted' && (data as Partial<CallCompleted>).lead_id === null,
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
  const isKnown = revision > 0n && rows.get(callTable, call_id) !== undefined
  if (isKnown && !('erased_at' in call)) return
  rows.put(callTable, { call_id })
  const found = lead_id === null ? undefined : rows.get(leadTable, lead_id)
  if (!found || rows.get(ownerTable, call.assistant_id)?.user_id !== found.user_id) return
  const lead = { ...found, called: found.words && calledAlso(found.called, call.ended_at) }
  if (lead.called !== found.called) rows.put(leadTable, lead)
  if (isKnown || lead.status === 'deleted') return
  const left = leadLeft(lead, call)
  if (left) return rows.put(leadTable, left)
  const after = afterCall({ ...lead, status: lead.status }, call)
  if (!after) return
  const updated_at = after.status === lead.status ? lead.updated_at : laterOf(lead.updated_at, created.toISOString())
  rows.put(leadTable, { ...lead, ...after, updated_at })
}
