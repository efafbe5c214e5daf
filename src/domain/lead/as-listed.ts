// What it means for a lead that its number, or that of a secondary contact, must not be called.
import type { Listed } from '../blacklist/listed.js'
import type { LeadStatus } from '../lead-status.js'
import type { LeadAnswer } from './summary.js'

interface Person { phone_number: string, status: LeadStatus }

/** Whatever else a person's status is: the entry of the number comes first, and gives it back when it goes. */
const asListed = <Someone extends Person>(person: Someone, listed: Listed): Someone =>
  listed.has(person.phone_number) ? { ...person, status: 'blacklisted' } : person

/** The lead as it is answered while these numbers are listed. */
export const leadAsListed = (lead: LeadAnswer, listed: Listed): LeadAnswer => ({
  ...asListed(lead, listed), secondary_contacts: lead.secondary_contacts.map((contact) => asListed(contact, listed))
})
