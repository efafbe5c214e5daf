// The rules for leads: what a caller may send to create, change or delete one, and which events follow.
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'
import { type Circumstances, type Decider, deciding, idAt } from '../../domain/events.js'
import { customer } from '../../domain/examples.js'
import { AnyObject, documentedAs, Id, type JsonObject, member, PhoneNumber, variableLimits } from '../../domain/json.js'
import {
  invalid, collect, notOwn, ownedBy, problem, type Problem, repeated, soundBody, soundFields, type Submitted
} from '../../domain/rejection.js'
import { type Listed, onTheList, staysListed } from '../blacklist/model.js'
import {
  type ContactVariables, type LeadEvent, leadEventTypes, type LeadStatus, leadStatuses, type LeadUpdatedEvent,
  type StoredContact
} from './events.js'
import { evolve, evolveOne, type Lead, leadAfter, type LeadState, mostLeads, type OneLeadState } from './model.js'

const Variables = Type.Unsafe<JsonObject & { customer_name?: string, email?: string }>(AnyObject({
  properties: {
    customer_name: { type: 'string', description: 'Name of the person to call.', examples: [customer.customer_name] },
    email: { type: 'string', description: 'E-mail address of the person to call.', examples: ['ada@example.com'] }
  },
  ...variableLimits,
  ...documentedAs(AnyObject(variableLimits)),
  description: 'Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call.'
}))

const SecondaryContactBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format.' }),
  variables: Type.Optional(Variables)
}, { title: 'SecondaryContactInput' })

export const CreateLeadBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format.' }),
  campaign_id: Id({ description: 'Campaign to create the lead for.', examples: [1] }),
  variables: Type.Optional(Variables),
  allow_dupplicate: Type.Optional(Type.Boolean({
    default: false, description: 'Whether the campaign may hold this phone number more than once; 1,000 times is the most.'
  })),
  secondary_contacts: Type.Optional(Type.Array(SecondaryContactBody, {
    maxItems: 10,
    description: 'Other people to call for this lead. No phone number may repeat that of the lead, or that of another of them.'
  }))
}, { title: 'LeadInput' })

export type CreateLeadBody = Static<typeof CreateLeadBody>

/** Facts from outside the stream. An absent fact is unknown, and refuses nothing. */
export interface LeadFacts {
  /** Null when the campaign is not one of the user's. */
  campaignName?: string | null | undefined
  /** It takes no new leads; kept answers still name it. */
  isCampaignDeleted?: boolean
  /** The lead's numbers that are on the do-not-call list. */
  listed?: Listed
}

/** @throws Rejection `invalid` with every problem */
export function validateLead (
  submitted: Submitted<CreateLeadBody>, { campaignName, isCampaignDeleted, listed }: LeadFacts
) {
  const { phone_number, secondary_contacts } = submitted.body
  const again = 'must differ from the other phone numbers of this lead'
  const body = soundBody(submitted, [
    (campaignName === null || isCampaignDeleted) && problem('campaign_id', 'must be one of your campaigns'),
    ...repeated('secondary_contacts', secondary_contacts, 'phone_number', again, phone_number),
    ...listed ? refuseListed(submitted.body, listed) : []
  ])
  return {
    ...contactOf(body),
    campaign_id: body.campaign_id,
    allow_dupplicate: body.allow_dupplicate ?? false,
    secondary_contacts: (body.secondary_contacts ?? []).map(contactOf)
  }
}

function refuseListed ({ phone_number, secondary_contacts }: Partial<CreateLeadBody>, listed: Listed): Problem[] {
  const contacts: unknown[] = Array.isArray(secondary_contacts) ? secondary_contacts : [] // they may not fit the schema
  return [
    phone_number !== undefined && listed.has(phone_number) && problem('phone_number', onTheList),
    ...contacts.map((contact, at) => listed.has(String(member(contact, 'phone_number'))) &&
      problem(`secondary_contacts.${at}.phone_number`, onTheList))
  ]
}

const contactOf = ({ phone_number, variables }: Pick<CreateLeadBody, 'phone_number' | 'variables'>) =>
  ({ phone_number, variables: variablesOf(variables) })

function variablesOf (variables: CreateLeadBody['variables']): ContactVariables {
  const { customer_name = '', email = '' } = variables ?? {}
  return { ...variables, customer_name, email }
}

const settable = leadStatuses.filter((status) => status !== 'processing')
const Status = Type.Optional(Type.Enum(settable, {
  title: 'SettableLeadStatus', description: 'Any but processing, which only reports of calls set.'
}))

const ChangedContactBody = Type.Object({
  id: Type.Optional(Id({ description: 'Id of a secondary contact that the lead keeps, with its variables if none are given. A contact without an id is a new one.' })),
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

/** The lead as the read model has it. An absent fact is unknown, and refuses nothing. */
interface LeadChangeFacts { lead?: Lead, listed?: Listed }

/** @throws Rejection `invalid` with every problem */
export function validateLeadChanges (
  submitted: Submitted<UpdateLeadBody>, { lead, listed = new Set() }: LeadChangeFacts
) {
  const { secondary_contacts: given, phone_number = lead?.phone_number } = submitted.body
  const again = 'must differ from the other phone numbers of this lead'
  const sound = soundFields(submitted)
  const { variables, secondary_contacts, status } = soundBody(submitted, [
    ...(['phone_number', 'campaign_id'] as const).map((field) =>
      lead && (sound[field] ?? lead[field]) !== lead[field] && problem(field, 'must stay as it is')),
    ...repeated('secondary_contacts', given, 'phone_number', again, phone_number),
    ...repeated('secondary_contacts', given, 'id', 'must be named once', undefined, 'number'),
    ...refuseListedIn(sound, lead, listed)
  ])
  const people = lead ? [lead, ...lead.secondary_contacts] : []
  return {
    type: 'update' as const,
    variables: variables && variablesOf(variables),
    secondary_contacts: secondary_contacts?.map(({ id, phone_number, variables, status }) =>
      ({ id, phone_number, variables: variables && variablesOf(variables), status })),
    status,
    /** By id: the statuses of the lead and its secondary contacts, as calls have left them. */
    statuses: new Map(people.map((person) => [person.id, person.status])),
    /** Their persons stay blacklisted. */
    listed
  }
}

/** Ids of the persons whose status the body sets; `lead` is the lead after the body. */
export function chosenStatuses ({ status, secondary_contacts = [] }: UpdateLeadBody, lead: Lead): Set<number> {
  const contacts = secondary_contacts.flatMap(({ status }, at) => status ? lead.secondary_contacts[at]?.id ?? [] : [])
  return new Set(status ? [lead.id, ...contacts] : contacts)
}

/** Numbers of contacts that are new or get a status: only for these the do-not-call list matters. */
export const numbersToAsk = ({ secondary_contacts = [] }: Partial<UpdateLeadBody>): string[] => secondary_contacts
  .filter(({ id, status }) => id === undefined || status !== undefined).map(({ phone_number }) => phone_number)

/** No new contact may have a listed number. A known person with one stays blacklisted. */
function refuseListedIn (
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

/** `ids` are the lead's, then one for each secondary contact. */
export type CreateLead = ReturnType<typeof validateLead> & Circumstances

export const leadDecider: Decider<LeadState, LeadEvent, CreateLead> = {
  initialState: { ids: [] },
  eventTypes: leadEventTypes,
  evolve,
  decide: createLead
}

export const isDuplicate = ({ allow_dupplicate }: { allow_dupplicate: boolean }, state: LeadState) =>
  state.ids.length > 0 && !allow_dupplicate

function createLead (command: CreateLead, state: LeadState): LeadEvent[] {
  const { ids, userId, now, campaign_id, phone_number, variables, secondary_contacts } = command
  if (isDuplicate(command, state)) {
    throw invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
    })
  }
  if (state.ids.length >= mostLeads) {
    throw invalid({ phone_number: [`is a lead of this campaign ${mostLeads} times already, which is the most`] })
  }
  const lead_id = idAt(ids, 0)
  const contacts = secondary_contacts.map((contact, index) => ({ id: idAt(ids, index + 1), ...contact }))
  const contact = { phone_number, variables, secondary_contacts: contacts }
  return [{ type: 'LeadCreated', data: { lead_id, user_id: userId, campaign_id, ...contact, created_at: now } }]
}

/** `ids` are those of the new secondary contacts, in order. */
export type UpdateLead = ReturnType<typeof validateLeadChanges> & Circumstances
type ChangedContact = NonNullable<UpdateLead['secondary_contacts']>[number]

/** Decides about one lead. Its stream may hold other leads of the same contact, which the fold skips. */
export const oneLeadDecider = (id: number) => deciding({
  initialState: undefined, eventTypes: leadEventTypes, part: `lead ${id}`, evolve: evolveOne(id)
}, {
  update,
  delete: ({ userId, now }: Omit<Circumstances, 'ids'>, state) =>
    [{ type: 'LeadDeleted', data: { ...namesOf(ownedBy(userId, state, leadNotFound)), deleted_at: now } }]
})

export const leadNotFound = () => notOwn('Lead')

function update (command: UpdateLead, state: OneLeadState): LeadEvent[] {
  const lead = ownedBy(command.userId, state, leadNotFound)
  const { secondary_contacts: given = [], now } = command
  const problems = collect({}, given.map((contact, at) => problemOf(lead, contact, `secondary_contacts.${at}`)))
  if (Object.keys(problems).length > 0) throw invalid(problems)
  const contacts = command.secondary_contacts && storedContacts(lead, given, command.ids)
  const changes = changesOf(lead, { variables: command.variables, secondary_contacts: contacts })
  if (!changes) return statusChanges(lead, command, contacts)
  const removed_contacts = contacts ? idsOf(lead.secondary_contacts).filter((id) => !idsOf(contacts).includes(id)) : []
  const event: LeadEvent = { type: 'LeadUpdated', data: { ...namesOf(lead), changes, removed_contacts, updated_at: now } }
  return [event, ...statusChanges(leadAfter(lead, event) ?? lead, command, contacts)]
}

const namesOf = ({ id, user_id, campaign_id }: Lead) => ({ lead_id: id, user_id, campaign_id })
const idsOf = (contacts: { id: number }[]) => contacts.map(({ id }) => id)

function problemOf ({ secondary_contacts }: Lead, { id, phone_number }: ChangedContact, path: string): Problem {
  if (id === undefined) return false
  const known = secondary_contacts.find((contact) => contact.id === id)
  if (!known) return problem(`${path}.id`, 'must be a secondary contact of this lead')
  return known.phone_number !== phone_number && problem(`${path}.phone_number`, 'must stay as it is')
}

function storedContacts (lead: Lead, given: ChangedContact[], ids: readonly number[]): StoredContact[] {
  let taken = 0
  return given.map(({ id, phone_number, variables }) => {
    const known = lead.secondary_contacts.find((contact) => contact.id === id)
    return { id: id ?? idAt(ids, taken++), phone_number, variables: variables ?? known?.variables ?? variablesOf({}) }
  })
}

type Changes = LeadUpdatedEvent['data']['changes']
type Wanted = { [Field in keyof Changes]: Changes[Field] | undefined }

/** The fields that differ; undefined when none does. */
function changesOf (lead: Lead, { variables, secondary_contacts }: Wanted): Changes | undefined {
  const present = lead.secondary_contacts.map(({ id, phone_number, variables }) => ({ id, phone_number, variables }))
  const changes: Changes = {
    ...(variables && !Value.Equal(lead.variables, variables) && { variables }),
    ...(secondary_contacts && !Value.Equal(present, secondary_contacts) && { secondary_contacts })
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}

/**
 * Skips a status that the user set last and that no call has moved since. Also skips persons whose number is listed,
 * because clients send back what they have read.
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
