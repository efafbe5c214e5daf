// The rows of leads and their secondary contacts, and what the events of a lead make of them.
import type {
  ContactVariables, LeadCreatedEvent, LeadDeletedEvent, LeadEvent, LeadStatus, LeadStatusChangedEvent,
  LeadUpdatedEvent
} from '../src/features/leads/events.js'
import { type Calling, contactAfter, leadOf } from '../src/features/leads/model.js'
import { placesBeside } from '../src/domain/sealed/left.js'
import { laterOf } from '../src/domain/time/later-of.js'
import { CannotProject, type LogPosition, type Rows } from './folding/projection.js'
import { iso, table } from './folding/table.js'
import { blockIndex, wordIndex, wordsOf, type Searched } from './search.js'

/** A lead, or a secondary contact: then `primary_id` is its lead and `place` its number among the contacts. */
export interface LeadRow extends Omit<Calling, 'status'> {
  id: number
  /** The row of one that was deleted, or that its lead does not have any more, stays: calls may still name it. */
  status: LeadStatus | 'deleted'
  primary_id: number | null
  place: number
  user_id: string
  campaign_id: number
  phone_number: string
  variables: ContactVariables
  /** Searches compare these words of name, e-mail and number. */
  words: string
  stream: string
  created_at: string
  updated_at: string
  /** Of a contact whose key ended before this was read: the log does not say yet that they are erased. */
  is_to_erase: boolean
  /** Stands for the number of a contact that went with its lead, until the contact is erased too. */
  number_digest: string | null
}

export const leadTable = table<LeadRow>({
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

/** Of the lead and the secondary contacts that the event names. */
export function idsOf ({ type, data }: LeadEvent): number[] {
  switch (type) {
    case 'LeadCreated': {
      const { lead_id, secondary_contacts, erased_contacts = [] } = data
      return [lead_id, ...secondary_contacts.map(({ id }) => id), ...erased_contacts]
    }
    case 'LeadUpdated': {
      const { lead_id, changes: { secondary_contacts = [] }, removed_contacts, erased_contacts = [] } = data
      return [lead_id, ...secondary_contacts.map(({ id }) => id), ...removed_contacts, ...erased_contacts]
    }
    case 'LeadStatusChanged': return [data.contact_id ?? data.lead_id]
    case 'LeadDeleted': return [data.lead_id]
    case 'LeadErased': return [data.lead_id, ...data.contact_ids]
    default: return type satisfies never
  }
}

const fresh = { newest_report_at: null, is_to_erase: false, number_digest: null }

export function addLead (event: LeadCreatedEvent, { stream }: LogPosition, rows: Rows): void {
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

export function updateLead ({ data }: LeadUpdatedEvent, { stream }: LogPosition, rows: Rows): void {
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

export function changeStatus ({ data }: LeadStatusChangedEvent, { stream }: LogPosition, rows: Rows): void {
  const { lead_id, contact_id, status, changed_at } = data
  const row = rowOn(stream, contact_id ?? lead_id, rows)
  if (!row || row.status === 'deleted') return
  rows.put(leadTable, { ...row, status, updated_at: laterOf(row.updated_at, changed_at) })
}

export function deleteLead ({ data }: LeadDeletedEvent, { stream }: LogPosition, rows: Rows): void {
  putDeleted(rows, rowOn(stream, data.lead_id, rows), data.deleted_at)
}

function putDeleted (rows: Rows, row: LeadRow | undefined, at: string): void {
  // A replay cannot know what an erased call left here: so a deleted row keeps nothing of calls.
  if (row) rows.put(leadTable, { ...row, status: 'deleted', newest_report_at: null, updated_at: at })
}

/** @throws CannotProject when the row is of another stream */
export function rowOn (stream: string, id: number, rows: Rows): LeadRow | undefined {
  const row = rows.get(leadTable, id)
  if (row && row.stream !== stream) throw new CannotProject(`lead id ${id} already belongs to ${row.stream}`)
  return row
}

const wordsIn = ({ phone_number, variables }: Pick<LeadRow, 'phone_number' | 'variables'>) =>
  wordsOf(variables.customer_name, variables.email, phone_number)

const contactOf = ({ id, phone_number, variables, created_at, updated_at }: LeadRow) =>
  ({ id, phone_number, variables, status: 'created' as const, created_at: iso(created_at), updated_at: iso(updated_at) })
