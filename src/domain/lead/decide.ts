// The rules for creating a lead; the stream itself holds all leads of one contact in one campaign.
import type { Decider } from '../decider.js'
import { collect, refuseInvalid, type FieldErrors, type Problem } from '../rejection.js'
import type { NewEvent } from '../stored-event.js'
import type { LeadBody } from './body.js'
import type { ContactVariables, LeadEvent } from './events.js'
import { leadOf, type Lead } from './lead.js'

/** All leads that share the stream, oldest first. */
export type LeadState = Lead[]

export interface CreateLead {
  /** The lead's id, then one for each secondary contact. */
  ids: number[]
  userId: string
  body: LeadBody
  /** What the schema refused already; rules skip these fields, and both are told together. */
  refused: FieldErrors
  facts: { ownsCampaign: boolean }
  /** ISO 8601. */
  now: string
}

export const leadDecider: Decider<LeadState, LeadEvent, CreateLead> = {
  initialState: [],
  evolve: (leads, event) => [...leads, leadOf(event)],
  decide: createLead
}

function createLead ({ ids, userId, body, refused, facts, now }: CreateLead, leads: LeadState): NewEvent[] {
  const { phone_number, campaign_id, variables, allow_dupplicate, secondary_contacts = [] } = body
  refuseInvalid(collect(refused, [
    campaign_id === undefined || refused.campaign_id || facts.ownsCampaign ? undefined : { field: 'campaign_id', message: 'must be one of your campaigns' },
    refused.phone_number || allow_dupplicate || leads.length === 0
      ? undefined
      : { field: 'phone_number', message: 'is already a lead of this campaign; send allow_dupplicate: true to create another' },
    ...repeatedNumbers(phone_number, secondary_contacts)
  ]))
  const contacts = secondary_contacts.map((contact, index) => ({
    id: ids[index + 1],
    phone_number: contact.phone_number,
    variables: complete(contact.variables)
  }))
  return [{
    type: 'LeadCreated',
    data: { lead_id: ids[0], user_id: userId, campaign_id, phone_number, variables: complete(variables), secondary_contacts: contacts, created_at: now }
  }]
}

function repeatedNumbers (primary: string | undefined, contacts: NonNullable<LeadBody['secondary_contacts']>): Problem[] {
  if (!Array.isArray(contacts)) return []
  const seen = new Set<unknown>([primary])
  return contacts.map((contact, index) => typeof contact?.phone_number === 'string' && seen.size === seen.add(contact.phone_number).size
    ? { field: `secondary_contacts.${index}.phone_number`, message: 'must differ from the other phone numbers of this lead' }
    : undefined)
}

function complete (variables: LeadBody['variables']): ContactVariables {
  return { ...variables, customer_name: variables?.customer_name ?? '', email: variables?.email ?? '' }
}
