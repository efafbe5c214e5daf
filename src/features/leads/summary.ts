// A lead as callers see it; write and read side use the same function.
import Type, { type Static } from 'typebox'
import { AnyObject, Id } from '../../domain/json.js'
import type { Contact, Lead } from './evolve.js'
import { LeadStatus } from './status.js'
import type { Listed } from '../blacklist/listed.js'

const contact = {
  id: Id({ description: 'Unique identifier.' }),
  phone_number: Type.String({ description: 'E.164 format.' }),
  variables: AnyObject({ description: 'Holds customer_name and email, empty strings when they were not given.' }),
  status: LeadStatus({ description: 'Status; created after creation.' }),
  created_at: Type.String({ description: 'UTC, YYYY-MM-DD HH:MM:SS.', examples: ['2026-01-31 12:00:00'] }),
  updated_at: Type.String({ description: 'UTC, YYYY-MM-DD HH:MM:SS.', examples: ['2026-01-31 12:00:00'] })
}

const ContactAnswer = Type.Object(contact, { title: 'SecondaryContact' })
export const LeadAnswer = Type.Object({
  ...contact,
  campaign_id: Id({ description: 'Campaign the lead belongs to.' }),
  campaign: Type.Object({ id: Id({}), name: Type.String() }, { title: 'LeadCampaign' }),
  secondary_contacts: Type.Array(ContactAnswer)
}, { title: 'Lead' })
export type LeadAnswer = Static<typeof LeadAnswer>

/** The lead object of the interface: exactly the documented keys. */
export function describeLead (lead: Lead, campaignName: string): LeadAnswer {
  return {
    ...describeContact(lead),
    campaign_id: lead.campaign_id,
    campaign: { id: lead.campaign_id, name: campaignName },
    secondary_contacts: lead.secondary_contacts.map(describeContact)
  }
}

/** A lead without its campaign and contacts, or a secondary contact. */
export function describeContact (contact: Contact): Static<typeof ContactAnswer> {
  const { id, phone_number, variables, status, created_at, updated_at } = contact
  return { id, phone_number, variables, status, created_at: spacedTime(created_at), updated_at: spacedTime(updated_at) }
}

/** `2026-01-31T12:00:00.000Z` as `2026-01-31 12:00:00`: UTC, seconds cut off. */
function spacedTime (instant: string): string {
  return new Date(instant).toISOString().slice(0, 19).replace('T', ' ')
}

interface Person { phone_number: string, status: LeadStatus }

/** Whatever else a person's status is: the entry of the number comes first, and gives it back when it goes. */
const asListed = <Someone extends Person>(person: Someone, listed: Listed): Someone =>
  listed.has(person.phone_number) ? { ...person, status: 'blacklisted' } : person

/** The lead as it is answered while these numbers are listed. */
export const leadAsListed = (lead: LeadAnswer, listed: Listed): LeadAnswer => ({
  ...asListed(lead, listed), secondary_contacts: lead.secondary_contacts.map((contact) => asListed(contact, listed))
})
