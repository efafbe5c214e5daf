// Numbers that must not be called, as rules and answers name them.

/** Numbers that their user does not want called. */
export type Listed = ReadonlySet<string>

export const onTheList = 'is on your do-not-call list'
export const staysListed = 'must stay blacklisted while the phone number is on your do-not-call list'

interface Numbered { phone_number?: string, secondary_contacts?: { phone_number: string }[] }

/** Of the lead and its secondary contacts. */
export const numbersOf = ({ phone_number, secondary_contacts = [] }: Numbered): string[] =>
  [phone_number, ...secondary_contacts.map((contact) => contact.phone_number)].flatMap((number) => number ?? [])
