// How the events of a contact in a campaign add up.
import type { ContactVariables, LeadCreatedEvent, LeadEvent } from './events.js'
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
  /** Of those that were not deleted, but for the oldest where they are more than there may be. */
  ids: readonly number[]
  /** So many are not among the ids. */
  older?: number
  /** The one that was created last. */
  last?: Lead
}

/**
 * There may be no more of a contact in one campaign. Nobody calls a person so often, and without a limit a client in a
 * loop would make a stream that takes long to read.
 */
export const mostLeads = 1_000

export function evolve (state: LeadState, event: LeadEvent): LeadState {
  switch (event.type) {
    case 'LeadCreated': return { ...withOne(state, event.data.lead_id), last: leadOf(event) }
    case 'LeadDeleted': return without(state, event.data.lead_id)
    case 'LeadErased': return event.data.with_lead ? erased(state, event.data.lead_id) : state
    case 'LeadUpdated':
    case 'LeadStatusChanged': return state
    default: return event satisfies never
  }
}

/** One that had been deleted is not among them already; the events before an erasure may be gone. */
function erased ({ last, ...state }: LeadState, id: number): LeadState {
  const left = without(state, id)
  return last && last.id !== id ? { ...left, last } : left
}

function withOne ({ ids, older = 0, ...state }: LeadState, id: number): LeadState {
  if (ids.length < mostLeads) return { ...state, ids: [...ids, id], ...older > 0 && { older } }
  return { ...state, ids: [...ids.slice(1), id], older: older + 1 }
}

/** An old log may have a contact with more leads than there may be. Ids are given in order: older ones are lower. */
function without (state: LeadState, id: number): LeadState {
  const { ids, older = 0, ...others } = state
  const left = ids.filter((known) => known !== id)
  if (left.length < ids.length || id > (ids[0] ?? Infinity)) return { ...state, ids: left }
  return { ...others, ids, ...older > 1 && { older: older - 1 } }
}

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
