// A lead: how its events and the reports of calls add up, and what callers see of it.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { AnyObject, Id } from '../../domain/json.js'
import { laterOf } from '../../domain/events.js'
import type { Listed } from '../blacklist/model.js'
import { type CallCompleted, latestEnd } from '../calls/events.js'
import {
  type ContactVariables, erasedIds, isErasedPerson, type LeadCreatedEvent, type LeadErasedEvent, type LeadEvent,
  LeadStatus, type LeadUpdatedEvent, type StoredContact
} from './events.js'

/** One person to call: the lead itself or one of its secondary contacts. Times are ISO 8601. */
export interface Contact {
  id: number
  phone_number: string
  variables: ContactVariables
  status: LeadStatus
  created_at: string
  updated_at: string
}

interface Numbered { phone_number?: string, secondary_contacts?: { phone_number: string }[] }

export const numbersOf = ({ phone_number, secondary_contacts = [] }: Numbered): string[] =>
  [phone_number, ...secondary_contacts.map((contact) => contact.phone_number)].flatMap((number) => number ?? [])

export interface Lead extends Contact {
  user_id: string
  campaign_id: number
  secondary_contacts: Contact[]
  /** Deleted: for its user it does not exist. */
  isDeleted?: true
}

/** All leads of one contact in one campaign. */
export interface LeadState {
  /** Without those that were deleted. */
  ids: readonly number[]
  /** Created last. */
  last?: Lead
}

/**
 * Most leads of one contact in one campaign. Nobody calls a person so often, and without a limit a client in a loop
 * would make a stream that takes long to read.
 */
export const mostLeads = 1_000

export function evolve (state: LeadState, event: LeadEvent): LeadState {
  switch (event.type) {
    case 'LeadCreated': {
      const last = leadAfter(undefined, event)
      return { ids: [...state.ids, event.data.lead_id], ...last && { last } }
    }
    case 'LeadDeleted': return without(state, event.data.lead_id)
    case 'LeadErased': return event.data.with_lead ? withoutErased(state, event.data.lead_id) : state
    case 'LeadUpdated':
    case 'LeadStatusChanged': return state
    default: return event satisfies never
  }
}

/** The lead may have been deleted before, and the events before an erasure may be gone. */
function withoutErased ({ last, ...state }: LeadState, id: number): LeadState {
  const left = without(state, id)
  return last && last.id !== id ? { ...left, last } : left
}

const without = (state: LeadState, id: number): LeadState =>
  ({ ...state, ids: state.ids.filter((known) => known !== id) })

/** The lead that a command created with these ids. @throws when it is not the last one */
export function createdLead ({ last }: LeadState, ids: readonly number[]): Lead {
  if (last?.id !== ids[0] || !last) throw new Error(`the last lead is not ${ids[0]}`)
  return last
}

/** A lead, or a secondary contact: then `primary_id` is its lead and `place` its number among the contacts. */
export interface Person extends Omit<Contact, 'status'>, Omit<Calling, 'status'> {
  /** Calls may still name a deleted lead or a removed contact. */
  status: LeadStatus | 'deleted'
  primary_id: number | null
  place: number
  user_id: string
  campaign_id: number
  /** This person was erased. False for a contact that only went with its lead. */
  is_erased: boolean
  /** The contact's key was gone when this event was read. The event of the erasure is still to come. */
  is_to_erase: boolean
  /** Finds a contact that went with its erased lead, when that contact is erased too. */
  number_digest: string | null
}
type Present = Person & { status: LeadStatus }
type Known = (id: number) => Person | undefined

/** The persons whom an event changes, after it. `known` returns them as they were before. */
export function peopleAfter (event: LeadEvent, known: Known): Person[] {
  const { type, data } = event
  switch (type) {
    case 'LeadCreated': {
      return [...createdPeople(data).filter(({ id }) => !known(id)), ...unreadable(data, data.created_at)]
    }
    case 'LeadUpdated': return [...updatedPeople(data, known), ...unreadable(data, data.updated_at)]
    case 'LeadStatusChanged': {
      const { contact_id, lead_id, status, changed_at } = data
      const person = known(contact_id ?? lead_id)
      if (!person || person.status === 'deleted') return []
      return [{ ...person, status, updated_at: laterOf(person.updated_at, changed_at) }]
    }
    case 'LeadDeleted': return deleted(known(data.lead_id), data.deleted_at)
    case 'LeadErased': return erasedPeople(event, known)
    default: return type satisfies never
  }
}

function createdPeople (data: LeadCreatedEvent['data']): Person[] {
  const { lead_id: id, phone_number, variables, secondary_contacts, erased_places, created_at } = data
  const places = placesBeside(secondary_contacts, erased_places)
  return [
    newPerson(data, { id, phone_number, variables }, 0, created_at),
    ...secondary_contacts.map((contact, nth) => newPerson(data, contact, places[nth] ?? 0, created_at))
  ]
}

function updatedPeople (data: LeadUpdatedEvent['data'], known: Known): Person[] {
  const { lead_id, changes: { variables, secondary_contacts = [] }, removed_contacts, erased_places, updated_at } = data
  const lead = known(lead_id)
  if (!lead) return []
  const places = placesBeside(secondary_contacts, erased_places)
  const changed: Person[] = [
    { ...lead, variables: variables ?? lead.variables, updated_at: laterOf(lead.updated_at, updated_at) },
    ...secondary_contacts.map((contact, nth) => {
      const former = known(contact.id) ?? newPerson(data, contact, 0, updated_at)
      const isSame = Value.Equal(former.variables, contact.variables)
      const at = isSame ? former.updated_at : laterOf(former.updated_at, updated_at)
      return { ...former, ...contact, place: places[nth] ?? 0, updated_at: at }
    })
  ]
  const present = (id: number) => changed.find((person) => person.id === id) ?? known(id)
  return [...changed, ...removed_contacts.flatMap((id) => deleted(present(id), updated_at))]
}

/** Drops what calls left, because a replay cannot know it once such a call is erased. */
const deleted = (person: Person | undefined, updated_at: string): Person[] =>
  person ? [{ ...person, status: 'deleted', newest_report_at: null, updated_at }] : []

/** Only the id of an erased person stays, because it is taken. Earlier events may be gone. */
function erasedPeople (event: LeadErasedEvent, known: Known): Person[] {
  const { data, data: { lead_id, with_lead, digests = [], erased_at } } = event
  const digestOf = new Map(digests.map(({ contact_id, number_digest }) => [contact_id, number_digest]))
  const lead = with_lead ? undefined : known(lead_id)
  return [
    ...lead ? [{ ...lead, updated_at: laterOf(lead.updated_at, erased_at) }] : [],
    ...erasedIds(event).map((id) => ({
      ...nobody(data, id, erased_at),
      is_erased: known(id)?.is_erased === true || isErasedPerson(data, id),
      number_digest: digestOf.get(id) ?? null
    }))
  ]
}

/** Contacts whose key is gone. They still need an erasure event, because others may have read who they were. */
const unreadable = (data: LeadCreatedEvent['data'] | LeadUpdatedEvent['data'], at: string): Person[] =>
  (data.erased_contacts ?? []).map((id) => ({ ...nobody(data, id, at), is_erased: true, is_to_erase: true }))

type Named = Pick<LeadEvent['data'], 'lead_id' | 'user_id' | 'campaign_id'>
const unknown = { phone_number: '', variables: { customer_name: '', email: '' } }
const nobody = (named: Named, id: number, at: string): Person =>
  ({ ...newPerson(named, { id, ...unknown }, 0, at), status: 'deleted' })

const fresh = {
  status: 'created' as const, newest_report_at: null, is_erased: false, is_to_erase: false, number_digest: null
}

function newPerson (named: Named, contact: StoredContact, place: number, at: string): Present {
  const { lead_id, user_id, campaign_id } = named
  const primary_id = contact.id === lead_id ? null : lead_id
  return { ...contact, ...fresh, primary_id, place, user_id, campaign_id, created_at: at, updated_at: at }
}

/** The places of the readable contacts in the whole list, from 1. */
function placesBeside (contacts: readonly unknown[], erased: readonly number[] = []): number[] {
  const all = Array.from({ length: contacts.length + erased.length }, (_, index) => index + 1)
  return all.filter((place) => !erased.includes(place))
}

/** Undefined before its creation. The status is what its user set: reports of calls are in their own streams. */
export type OneLeadState = Lead | undefined

/** Folds the lead with this id; the stream may hold others. */
export const evolveOne = (id: number) => (state: OneLeadState, event: LeadEvent): OneLeadState =>
  event.data.lead_id === id ? leadAfter(state, event) : state

/** For callers, an erased lead or contact does not exist. */
export function leadAfter (lead: OneLeadState, event: LeadEvent): OneLeadState {
  const people = new Map(lead && peopleOf(lead).map((person) => [person.id, person]))
  for (const person of peopleAfter(event, (id) => people.get(id))) people.set(person.id, person)
  const after = people.get(event.data.lead_id)
  if (!after || after.is_erased) return undefined
  people.delete(after.id)
  const contacts = [...people.values()].filter(isPresent)
  if (isPresent(after)) return wholeLead(after, contacts)
  return lead && { ...wholeLead({ ...after, status: lead.status }, contacts), isDeleted: true }
}

const isPresent = (person: Person): person is Present => person.status !== 'deleted'

const peopleOf = (lead: Lead): Person[] => [lead, ...lead.secondary_contacts].map((contact, place) => {
  const { id: lead_id, user_id, campaign_id } = lead
  const person = { ...newPerson({ lead_id, user_id, campaign_id }, contact, place, ''), ...contactOf(contact) }
  return place === 0 && lead.isDeleted ? { ...person, status: 'deleted' } : person
})

const wholeLead = (lead: Present, contacts: Present[]): Lead => ({
  ...contactOf(lead),
  user_id: lead.user_id,
  campaign_id: lead.campaign_id,
  secondary_contacts: contacts.sort((one, other) => one.place - other.place).map(contactOf)
})

const contactOf = ({ id, phone_number, variables, status, created_at, updated_at }: Contact): Contact =>
  ({ id, phone_number, variables, status, created_at, updated_at })

/**
 * Adds what calls made of the lead and its secondary contacts, from `known`, which was read before. Persons in `chosen`
 * keep the status that their user just gave them.
 */
export function withCalling (lead: Lead, known: Lead | undefined, chosen: ReadonlySet<number>): Lead {
  const people = known && !known.isDeleted ? [known, ...known.secondary_contacts] : []
  const moved = <Person extends Contact>(person: Person): Person => {
    const before = people.find(({ id }) => id === person.id)
    if (!before) return person
    const status = chosen.has(person.id) ? person.status : before.status
    return { ...person, status, updated_at: laterOf(person.updated_at, before.updated_at) }
  }
  return { ...moved(lead), secondary_contacts: lead.secondary_contacts.map(moved) }
}

/** How far the calling of a lead has come. */
export interface Calling {
  status: LeadStatus
  /** When the latest of its reported calls ended, ISO 8601; null before the first one. */
  newest_report_at: string | null
}

type Report = Pick<CallCompleted, 'lead_status' | 'status' | 'ended_at'>

/**
 * The lead after the report; undefined if a call that ended later was reported already. The engine's `lead_status`
 * counts; without one, a completed call completes the lead, and any other leaves it. A blacklisted lead stays so,
 * whatever an engine reports: only a command of its user ends that. A call that cannot have ended yet counts as ended
 * when it was recorded, or reports of later calls would look older.
 */
export function afterCall ({ status, newest_report_at }: Calling, report: Report, recorded: Date): Calling | undefined {
  const reported = new Date(report.ended_at) // to the millisecond: Postgres would round what is finer
  const endedAt = reported.getTime() > latestEnd(recorded) ? recorded : reported
  if (newest_report_at !== null && endedAt.getTime() < Date.parse(newest_report_at)) return undefined
  const given = report.lead_status ?? (report.status === 'completed' ? 'completed' : status)
  const moved = status === 'blacklisted' ? status : given
  return { status: moved, newest_report_at: endedAt.toISOString() }
}

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

/** A do-not-call entry hides the person's own status until it is deleted. */
const asListed = <Person extends Static<typeof ContactAnswer>>(person: Person, listed: Listed): Person =>
  listed.has(person.phone_number) ? { ...person, status: 'blacklisted' } : person

/** The answer while these numbers are listed. */
export const leadAsListed = (lead: LeadAnswer, listed: Listed): LeadAnswer => ({
  ...asListed(lead, listed), secondary_contacts: lead.secondary_contacts.map((contact) => asListed(contact, listed))
})
