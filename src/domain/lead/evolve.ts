// How the events of a contact in a campaign add up.
import type { ContactVariables, LeadEvent } from './events.js'
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
}

/** All leads of the contact, oldest first. */
export type LeadState = Lead[]

export const evolve = (leads: LeadState, event: LeadEvent): LeadState => [...leads, leadOf(event)]

/** The lead that an event created, before any call moved its status. */
export function leadOf ({ data }: LeadEvent): Lead {
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

/** Of the leads of a contact the one with the first of these ids. @throws when there is none */
export function createdLead (leads: readonly Lead[], ids: readonly number[]): Lead {
  const found = leads.find(({ id }) => id === ids[0])
  if (!found) throw new Error(`there is no lead ${ids[0]}`)
  return found
}
