// A lead: how its events and the reports of calls add up, and what callers see of it.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { AnyObject, Id } from '../../domain/json.js'
import { laterOf } from '../../domain/decider.js'
import type { Listed } from '../blacklist/model.js'
import type { CallCompleted } from '../calls/events.js'
import {
  type ContactVariables, type LeadCreatedEvent, type LeadErasedEvent, type LeadEvent, LeadStatus,
  type LeadStatusChangedEvent, type LeadUpdatedEvent, type StoredContact
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
    case 'LeadErased': return event.data.with_lead ? withoutErased(state, event.data.lead_id) : state
    case 'LeadUpdated':
    case 'LeadStatusChanged': return state
    default: return event satisfies never
  }
}

/** One that had been deleted is not among them already; the events before an erasure may be gone. */
function withoutErased ({ last, ...state }: LeadState, id: number): LeadState {
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

/** Nothing yet, or the lead. Its status is what its user set: what calls report is in their streams. */
export type OneLeadState = Lead | undefined

/** The fold of the lead with this id: events of others pass. */
export const evolveOne = (id: number) => (state: OneLeadState, event: LeadEvent): OneLeadState =>
  event.data.lead_id === id ? leadAfter(state, event) : state

export function leadAfter (lead: OneLeadState, event: LeadEvent): OneLeadState {
  switch (event.type) {
    case 'LeadCreated': return lead ?? leadOf(event)
    case 'LeadUpdated': return lead && updated(lead, event.data)
    case 'LeadStatusChanged': return lead && withStatus(lead, event.data)
    case 'LeadErased': return lead && afterErasure(lead, event.data)
    case 'LeadDeleted': return lead && { ...lead, isDeleted: true, updated_at: laterOf(lead.updated_at, event.data.deleted_at) }
    default: return event satisfies never
  }
}

function updated (lead: Lead, { changes, updated_at }: LeadUpdatedEvent['data']): Lead {
  const { variables = lead.variables, secondary_contacts: given } = changes
  const formerOf = ({ id }: StoredContact) => lead.secondary_contacts.find((known) => known.id === id)
  const secondary_contacts =
    given?.map((contact) => contactAfter(formerOf(contact), contact, updated_at)) ?? lead.secondary_contacts
  return { ...lead, variables, secondary_contacts, updated_at: laterOf(lead.updated_at, updated_at) }
}

/** It is as if the lead, or the contact, had never been. */
function afterErasure (lead: Lead, { with_lead, contact_ids, erased_at }: LeadErasedEvent['data']): OneLeadState {
  if (with_lead) return undefined
  const secondary_contacts = lead.secondary_contacts.filter(({ id }) => !contact_ids.includes(id))
  return { ...lead, secondary_contacts, updated_at: laterOf(lead.updated_at, erased_at) }
}

/** A contact as an update gives it: a new one, or the former with what changed. */
export function contactAfter (
  former: Contact | undefined, { id, phone_number, variables }: StoredContact, at: string
): Contact {
  if (!former) return { id, phone_number, variables, status: 'created', created_at: at, updated_at: at }
  if (Value.Equal(former.variables, variables)) return former
  return { ...former, variables, updated_at: laterOf(former.updated_at, at) }
}

/**
 * The lead with what calls made of it and its secondary contacts, as `known` says, which was read before; those in
 * `chosen` have the status that their user just gave them.
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

function withStatus (lead: Lead, { contact_id, status, changed_at }: LeadStatusChangedEvent['data']): Lead {
  const moved = <Person extends Contact>(person: Person): Person =>
    ({ ...person, status, updated_at: laterOf(person.updated_at, changed_at) })
  if (contact_id === null) return moved(lead)
  const contacts = lead.secondary_contacts.map((contact) => contact.id === contact_id ? moved(contact) : contact)
  return { ...lead, secondary_contacts: contacts }
}

/** How far the calling of a lead has come. */
export interface Calling {
  status: LeadStatus
  /** When the latest of its reported calls ended, ISO 8601; null before the first one. */
  newest_report_at: string | null
}

type Report = Pick<CallCompleted, 'lead_status' | 'status' | 'ended_at'>

/**
 * The lead after the report; nothing when that is of a call that ended before the latest one, as it changes nothing.
 * The status that the engine gives counts; without one a completed call completes the lead, any other leaves it. A lead
 * that is blacklisted stays so, whatever an engine reports: only a command of its user ends that.
 */
export function afterCall ({ status, newest_report_at }: Calling, report: Report): Calling | undefined {
  const endedAt = new Date(report.ended_at) // to the millisecond, as Postgres would round what is finer
  if (newest_report_at !== null && endedAt.getTime() < Date.parse(newest_report_at)) return undefined
  const moved = status === 'blacklisted' ? status : statusGiven(report) ?? status
  return { status: moved, newest_report_at: endedAt.toISOString() }
}

function statusGiven ({ lead_status, status }: Report): LeadStatus | undefined {
  return lead_status ?? (status === 'completed' ? 'completed' : undefined)
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

/** Whatever else a person's status is: the entry of the number comes first, and gives it back when it goes. */
const asListed = <Person extends Static<typeof ContactAnswer>>(person: Person, listed: Listed): Person =>
  listed.has(person.phone_number) ? { ...person, status: 'blacklisted' } : person

/** The lead as it is answered while these numbers are listed. */
export const leadAsListed = (lead: LeadAnswer, listed: Listed): LeadAnswer => ({
  ...asListed(lead, listed), secondary_contacts: lead.secondary_contacts.map((contact) => asListed(contact, listed))
})
