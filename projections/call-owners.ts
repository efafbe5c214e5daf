// Whose assistants and leads the calls name; readers do not see it.
import {
  erasedIds, isErasedPerson, type LeadCreatedEvent, type LeadErasedEvent, type LeadUpdatedEvent
} from '../src/features/leads/events.js'
import type { CalledLead } from '../src/features/calls/model.js'
import type { Rows } from './folding/projection.js'
import { table } from './folding/table.js'

export const assistantOwners = table<{ assistant_id: number, user_id: string }>({
  name: 'assistant_owners', key: 'assistant_id', columns: { assistant_id: 'bigint', user_id: 'text' }, internal: true
})
interface LeadOwner {
  lead_id: number
  user_id: string
  primary_lead_id: number | null
  campaign_id: number
  /** It is the person that was erased; a contact that only went with its lead is not. */
  is_erased: boolean
}

/** Of leads and secondary contacts: these have a primary lead. */
export const leadOwners = table<LeadOwner>({
  name: 'lead_owners',
  key: 'lead_id',
  columns: {
    lead_id: 'bigint', user_id: 'text', primary_lead_id: 'bigint', campaign_id: 'bigint', is_erased: 'boolean'
  },
  internal: true,
  isMostlyNew: true
})

type LeadUpdate = LeadUpdatedEvent['data']

/** That an update names: some of them are new. */
export const contactIdsIn = ({ changes: { secondary_contacts = [] }, erased_contacts = [] }: LeadUpdate) =>
  [...idsOf(secondary_contacts), ...erased_contacts]

type LeadNamed = Pick<LeadCreatedEvent['data'], 'lead_id' | 'user_id' | 'campaign_id' | 'erased_contacts'>

export function addLeadOwner (data: LeadCreatedEvent['data'], rows: Rows): void {
  const { lead_id, user_id, campaign_id, secondary_contacts, erased_contacts = [] } = data
  for (const id of [lead_id, ...idsOf(secondary_contacts), ...erased_contacts]) {
    const [primary_lead_id, is_erased] = [id === lead_id ? null : lead_id, erased_contacts.includes(id)]
    rows.put(leadOwners, { lead_id: id, user_id, primary_lead_id, campaign_id, is_erased })
  }
}

/** Those of whom the log has nothing but the id stay known by it: they are erased, also where nothing says so yet. */
export function addContactOwners (
  { lead_id: primary_lead_id, user_id, campaign_id, erased_contacts = [] }: LeadNamed,
  { secondary_contacts = [] }: LeadUpdatedEvent['data']['changes'], rows: Rows
): void {
  for (const id of [...idsOf(secondary_contacts), ...erased_contacts]) {
    const is_erased = erased_contacts.includes(id) || (rows.get(leadOwners, id)?.is_erased ?? false)
    rows.put(leadOwners, { lead_id: id, user_id, primary_lead_id, campaign_id, is_erased })
  }
}

const idsOf = (contacts: { id: number }[]) => contacts.map(({ id }) => id)

/** Whose lead it was is not personal, and a replay learns it here: the events before may be gone. */
export function keepOwners (event: LeadErasedEvent, rows: Rows): void {
  const { lead_id, user_id, campaign_id } = event.data
  for (const id of erasedIds(event)) {
    const primary_lead_id = id === lead_id ? null : lead_id
    const known = rows.get(leadOwners, id) ?? { lead_id: id, user_id, primary_lead_id, campaign_id, is_erased: false }
    rows.put(leadOwners, { ...known, is_erased: known.is_erased || isErasedPerson(event.data, id) })
  }
}

export const calledLead = ({ lead_id: id, primary_lead_id }: LeadOwner): CalledLead =>
  ({ id, ...(primary_lead_id !== null && { primary_lead_id }) })
