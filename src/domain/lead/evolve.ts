// How the events of a contact in a campaign add up.
import type { ContactVariables, LeadCreatedEvent, LeadEvent } from './events.js'
import type { LeadRestatedEvent } from './erasing/restated.js'
import type { LeadStatus } from './status.js'

/** One person to call: the lead itself or one of its secondary contacts. Times are ISO 8601. */
export interface Contact {
  id: number
  phone_number: string
  variables: ContactVariables
  status: LeadStatus
  created_at: string
  updated_at: string
}

export interface Lead extends Contact {
  user_id: string
  campaign_id: number
  secondary_contacts: Contact[]
  /** It was deleted: to its user it is as if it had never been. */
  isDeleted?: true
}

/** What there is to know of the leads of a contact, however many they are. */
export interface LeadState {
  /** Of those that were not deleted. */
  ids: readonly number[]
  /** The one that was created last. */
  last?: Lead
}

export function evolve (state: LeadState, event: LeadEvent): LeadState {
  switch (event.type) {
    case 'LeadCreated': return { ids: [...state.ids, event.data.lead_id], last: leadOf(event) }
    case 'LeadDeleted': return { ...state, ids: without(state.ids, event.data.lead_id) }
    case 'LeadErased': return event.data.with_lead ? erased(state, event.data.lead_id) : state
    case 'LeadRestated': return event.data.contact_id === null ? afterRestated(state, event) : state
    case 'LeadUpdated':
    case 'LeadStatusChanged': return state
    default: return event satisfies never
  }
}

/** One that had been deleted is not among them already; the events before an erasure may be gone. */
function erased ({ ids, last }: LeadState, id: number): LeadState {
  const left = without(ids, id)
  return last && last.id !== id ? { ids: left, last } : { ids: left }
}

function afterRestated ({ ids, last }: LeadState, event: LeadRestatedEvent): LeadState {
  const { lead_id, is_deleted } = event.data
  const others = without(ids, lead_id)
  return { ids: is_deleted ? others : [...others, lead_id], ...(last && { last }) }
}

const without = (ids: readonly number[], id: number) => ids.filter((known) => known !== id)

/** The lead that an event created, before any call moved its status. */
export function leadOf ({ data }: LeadCreatedEvent): Lead {
  const { lead_id, user_id, campaign_id, phone_number, variables, secondary_contacts, created_at } = data
  const fresh = { status: 'created' as const, created_at, updated_at: created_at }
  return {
    id: lead_id,
    user_id,
    campaign_id,
    phone_number,
    variables,
    ...fresh,
    secondary_contacts: secondary_contacts.map((contact) => ({ ...contact, ...fresh }))
  }
}

/** The lead that a command created with these ids, after its event. @throws when it is not the last one */
export function createdLead ({ last }: LeadState, ids: readonly number[]): Lead {
  if (last?.id !== ids[0] || !last) throw new Error(`the last lead is not ${ids[0]}`)
  return last
}
