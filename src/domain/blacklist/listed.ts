// What it means for a lead that its number, or that of a secondary contact, must not be called.
import type { LeadStatus } from '../lead/status.js'
import type { LeadAnswer } from '../lead/summary.js'

/** Numbers that their user does not want called. */
export type Listed = ReadonlySet<string>

export const onTheList = 'is on your do-not-call list'
export const staysListed = 'must stay blacklisted while the phone number is on your do-not-call list'

interface Person { phone_number: string, status: LeadStatus }

/** Whatever else a person's status is: the entry of the number comes first, and gives it back when it goes. */
const asListed = <Someone extends Person>(person: Someone, listed: Listed): Someone =>
  listed.has(person.phone_number) ? { ...person, status: 'blacklisted' } : person

/** The lead as it is answered while these numbers are listed. */
export const leadAsListed = (lead: LeadAnswer, listed: Listed): LeadAnswer => ({
  ...asListed(lead, listed), secondary_contacts: lead.secondary_contacts.map((contact) => asListed(contact, listed))
})

interface Numbered { phone_number?: string, secondary_contacts?: { phone_number: string }[] }

/** Of the lead and its secondary contacts. */
export const numbersOf = ({ phone_number, secondary_contacts = [] }: Numbered): string[] =>
  [phone_number, ...secondary_contacts.map((contact) => contact.phone_number)].flatMap((number) => number ?? [])
