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

/** What there is to know of the leads of a contact, however many they are. */
export interface LeadState {
  count: number
  /** The one that was created last. */
  last?: Lead
}

export const evolve = ({ count }: LeadState, event: LeadEvent): LeadState => ({ count: count + 1, last: leadOf(event) })

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

/** The lead that a command created with these ids, after its event. @throws when it is not the last one */
export function createdLead ({ last }: LeadState, ids: readonly number[]): Lead {
  if (last?.id !== ids[0] || !last) throw new Error(`the last lead is not ${ids[0]}`)
  return last
}
