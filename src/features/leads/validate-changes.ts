// What a caller sends to change a lead, and what is wrong with it.
import Type, { type Static } from 'typebox'
import { onTheList, staysListed, type Listed } from '../blacklist/listed.js'
import { Id, PhoneNumber } from '../../domain/json.js'
import { problem, repeated, soundBody, soundFields, type Problem, type Submitted } from '../../domain/validation.js'
import type { ContactVariables } from './events.js'
import type { Lead } from './evolve.js'
import { leadStatuses, type LeadStatus } from './status.js'
import { SecondaryContactBody, Variables, contactOf, variablesOf, type NewContact } from './validate.js'

const settable = leadStatuses.filter((status) => status !== 'processing')
const Status = Type.Optional(Type.Enum(settable, {
  title: 'SettableLeadStatus', description: 'Any but processing, which only reports of calls set.'
}))

const ChangedContactBody = Type.Object({
  id: Type.Optional(Id({ description: 'Of a secondary contact that the lead has and keeps; without it, it is a new one.' })),
  ...SecondaryContactBody.properties,
  status: Status
}, { title: 'ChangedSecondaryContact' })

export const UpdateLeadBody = Type.Object({
  phone_number: Type.Optional(PhoneNumber({ description: 'Must be that of the lead: it cannot be changed.' })),
  campaign_id: Type.Optional(Id({ description: 'Must be that of the lead: it cannot be changed.' })),
  variables: Type.Optional(Variables),
  secondary_contacts: Type.Optional(Type.Array(ChangedContactBody, {
    maxItems: 10, description: 'Replace those that the lead has. A phone number of one that is kept cannot be changed.'
  })),
  status: Status
}, { title: 'LeadChanges' })
export type UpdateLeadBody = Static<typeof UpdateLeadBody>

export interface ChangedContact extends NewContact {
  id: number | undefined
  status: LeadStatus | undefined
}

export interface LeadChanges {
  type: 'update'
  variables: ContactVariables | undefined
  secondary_contacts: ChangedContact[] | undefined
  status: LeadStatus | undefined
  /** By id, of the lead and its secondary contacts, as calls have moved them. */
  statuses: ReadonlyMap<number, LeadStatus>
  /** Numbers that must not be called: who has one is blacklisted anyway. */
  listed: Listed
}

/** The lead as it was found. Absent, it is not known, and refuses nothing. */
export interface LeadChangeFacts { lead?: Lead, listed?: Listed }

/** @throws Rejection `invalid` with every problem */
export function validateLeadChanges (
  submitted: Submitted<UpdateLeadBody>, { lead, listed = new Set() }: LeadChangeFacts
): LeadChanges {
  const { secondary_contacts: given, phone_number = lead?.phone_number } = submitted.body
  const again = 'must differ from the other phone numbers of this lead'
  const { variables, secondary_contacts, status } = soundBody(submitted, [
    ...(lead ? unchangeable(soundFields(submitted), lead) : []),
    ...repeated('secondary_contacts', given, 'phone_number', again, phone_number),
    ...repeatedIds(given),
    ...refuseListed(soundFields(submitted), lead, listed)
  ])
  const people = lead ? [lead, ...lead.secondary_contacts] : []
  return {
    type: 'update',
    variables: variables && variablesOf(variables),
    secondary_contacts: secondary_contacts?.map((contact) =>
      ({ id: contact.id, status: contact.status, ...contactOf(contact) })),
    status,
    statuses: new Map(people.map((person) => [person.id, person.status])),
    listed
  }
}

/** The ids of those whose status the body gives; `lead` is as it is after the body. */
export function chosenStatuses ({ status, secondary_contacts = [] }: UpdateLeadBody, lead: Lead): Set<number> {
  const contacts = secondary_contacts.flatMap(({ status }, at) => status ? lead.secondary_contacts[at]?.id ?? [] : [])
  return new Set(status ? [lead.id, ...contacts] : contacts)
}

function unchangeable ({ phone_number, campaign_id }: Partial<UpdateLeadBody>, lead: Lead): Problem[] {
  const same = 'must stay as it is'
  return [
    phone_number !== undefined && phone_number !== lead.phone_number && problem('phone_number', same),
    campaign_id !== undefined && campaign_id !== lead.campaign_id && problem('campaign_id', same)
  ]
}

/** The numbers of contacts whose entries decide over the changes: of who is new, and of whose status is given. */
export const numbersToAsk = ({ secondary_contacts = [] }: Partial<UpdateLeadBody>): string[] => secondary_contacts
  .filter(({ id, status }) => id === undefined || status !== undefined).map(({ phone_number }) => phone_number)

/** Nobody new may have a listed number, and who has one already stays blacklisted. */
function refuseListed (
  { status, secondary_contacts = [] }: Partial<UpdateLeadBody>, lead: Lead | undefined, listed: Listed
): Problem[] {
  const isFreed = (phoneNumber: string | undefined, status: LeadStatus | undefined) =>
    phoneNumber !== undefined && listed.has(phoneNumber) && status !== undefined && status !== 'blacklisted'
  return [
    isFreed(lead?.phone_number, status) && problem('status', staysListed),
    ...secondary_contacts.map(({ id, phone_number, status }, at) => id === undefined
      ? listed.has(phone_number) && problem(`secondary_contacts.${at}.phone_number`, onTheList)
      : isFreed(phone_number, status) && problem(`secondary_contacts.${at}.status`, staysListed))
  ]
}

/** Takes items that the schema refused, too. */
function repeatedIds (items: unknown): Problem[] {
  if (!Array.isArray(items)) return []
  const seen = new Set<unknown>()
  return items.map((item: unknown, at) => {
    const id: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'id') : undefined
    const isSeen = typeof id === 'number' && seen.size === seen.add(id).size
    return isSeen && problem(`secondary_contacts.${at}.id`, 'must be named once')
  })
}
