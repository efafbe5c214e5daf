// How the events of one lead add up, among those of all leads of its contact in the campaign.
import Value from 'typebox/value'
import { laterOf } from '../../domain/time/later-of.js'
import { leadOf, type Contact, type Lead } from './evolve.js'
import type { LeadErasedEvent } from './erased.js'
import type { LeadEvent, LeadStatusChangedEvent, LeadUpdatedEvent, StoredContact } from './events.js'

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
    case 'LeadErased': return lead && erased(lead, event.data)
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
function erased (lead: Lead, { with_lead, contact_ids, erased_at }: LeadErasedEvent['data']): OneLeadState {
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
