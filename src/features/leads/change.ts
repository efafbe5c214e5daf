// The rules for changing and deleting a lead that is there.
import Value from 'typebox/value'
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { Rejection, invalid } from '../../domain/rejection.js'
import { collect, problem, type Problem } from '../../domain/validation.js'
import { leadEventTypes, type LeadEvent, type LeadUpdatedEvent, type StoredContact } from './events.js'
import type { Lead } from './evolve.js'
import { evolveOne, leadAfter, type OneLeadState } from './one-lead.js'
import type { ChangedContact, LeadChanges } from './validate-changes.js'

/** Its ids are those of the new secondary contacts, in their order. */
export type UpdateLead = LeadChanges & Circumstances
export type DeleteLead = { type: 'delete' } & Circumstances
export type LeadCommand = UpdateLead | DeleteLead

/** Of one lead: its stream may hold others of the same contact, which it passes over. */
export function oneLeadDecider (id: number): Decider<OneLeadState, LeadEvent, LeadCommand> {
  return {
    initialState: undefined,
    eventTypes: leadEventTypes,
    part: `lead ${id}`,
    evolve: evolveOne(id),
    decide (command, state) {
      switch (command.type) {
        case 'update': return update(command, state)
        case 'delete': return remove(command, state)
        default: return command satisfies never
      }
    }
  }
}

/** Also the answer to somebody else's lead, so that nobody learns which ids exist. */
export function leadNotFound (): Rejection {
  return new Rejection('not-found', 'Lead not found or does not belong to the authenticated user')
}

function update (command: UpdateLead, state: OneLeadState): LeadEvent[] {
  const lead = ownOf(command, state)
  const { secondary_contacts: given = [], now } = command
  const problems = collect({}, given.map((contact, at) => problemOf(lead, contact, `secondary_contacts.${at}`)))
  if (Object.keys(problems).length > 0) throw invalid(problems)
  const contacts = command.secondary_contacts && storedContacts(given, command.ids)
  const changes = changesOf(lead, { variables: command.variables, secondary_contacts: contacts })
  if (!changes) return statusChanges(lead, command, contacts)
  const removed_contacts = contacts ? idsOf(lead.secondary_contacts).filter((id) => !idsOf(contacts).includes(id)) : []
  const event: LeadEvent = { type: 'LeadUpdated', data: { ...namesOf(lead), changes, removed_contacts, updated_at: now } }
  return [event, ...statusChanges(leadAfter(lead, event) ?? lead, command, contacts)]
}

function remove (command: DeleteLead, state: OneLeadState): LeadEvent[] {
  return [{ type: 'LeadDeleted', data: { ...namesOf(ownOf(command, state)), deleted_at: command.now } }]
}

/** @throws Rejection `not-found` */
function ownOf ({ userId }: { userId: string }, state: OneLeadState): Lead {
  if (state?.user_id !== userId || state.isDeleted) throw leadNotFound()
  return state
}

const namesOf = ({ id, user_id, campaign_id }: Lead) => ({ lead_id: id, user_id, campaign_id })
const idsOf = (contacts: { id: number }[]) => contacts.map(({ id }) => id)

function problemOf ({ secondary_contacts }: Lead, { id, phone_number }: ChangedContact, path: string): Problem {
  if (id === undefined) return false
  const known = secondary_contacts.find((contact) => contact.id === id)
  if (!known) return problem(`${path}.id`, 'must be a secondary contact of this lead')
  return known.phone_number !== phone_number && problem(`${path}.phone_number`, 'must stay as it is')
}

function storedContacts (given: ChangedContact[], ids: readonly number[]): StoredContact[] {
  let taken = 0
  return given.map(({ id, phone_number, variables }) => ({ id: id ?? idAt(ids, taken++), phone_number, variables }))
}

type Changes = LeadUpdatedEvent['data']['changes']
type Wanted = { [Field in keyof Changes]: Changes[Field] | undefined }

/** What differs of what is wanted; nothing when all of it is as it was. */
function changesOf (lead: Lead, { variables, secondary_contacts }: Wanted): Changes | undefined {
  const present = lead.secondary_contacts.map(({ id, phone_number, variables }) => ({ id, phone_number, variables }))
  const changes: Changes = {
    ...(variables && !Value.Equal(lead.variables, variables) && { variables }),
    ...(secondary_contacts && !Value.Equal(present, secondary_contacts) && { secondary_contacts })
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/**
 * A status that its user set last, and that no call has moved since, is not set again; nor is that of somebody whose
 * number is listed, as what was read may be sent back.
 */
function statusChanges (lead: Lead, command: UpdateLead, contacts: StoredContact[] = []): LeadEvent[] {
  const wanted = new Map((command.secondary_contacts ?? []).map(({ status }, at) => [contacts[at]?.id, status]))
  wanted.set(lead.id, command.status)
  return [lead, ...lead.secondary_contacts].flatMap(({ id, phone_number, status: set }) => {
    const status = command.listed.has(phone_number) ? undefined : wanted.get(id)
    const present = command.statuses.get(id) ?? set
    if (status === undefined || (status === set && status === present)) return []
    const contact_id = id === lead.id ? null : id
    return { type: 'LeadStatusChanged', data: { ...namesOf(lead), contact_id, status, changed_at: command.now } }
  })
}
