// What happens to a lead, on the stream `lead-<campaign id>-<digest of the phone number>`.
import Type, { type Static } from 'typebox'
import {
  AnyObject, documentedAs, GivenId, Id, Instant, Nullable, PhoneNumber, UserId, type JsonObject
} from '../../domain/json.js'
import { Sealed } from '../../domain/sealed.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

export const leadStatuses = [
  'created', 'scheduled', 'processing', 'completed', 'rescheduled', 'reached-max-retries', 'blacklisted'
] as const
export type LeadStatus = typeof leadStatuses[number]

export const LeadStatus = (options: object) => Type.Enum([...leadStatuses], { title: 'LeadStatus', ...options })

/** Free-form variables of a contact; `customer_name` and `email` are always there, empty when not given. */
export type ContactVariables = JsonObject & { customer_name: string, email: string }

export const StoredVariables = Type.Unsafe<ContactVariables>(AnyObject({
  ...documentedAs(AnyObject({})),
  description: 'Whatever was given with the contact. The texts `customer_name` and `email` are always there, empty when not given.',
  required: ['customer_name', 'email'],
  properties: {
    customer_name: { type: 'string', description: 'Empty when not given.' },
    email: { type: 'string', description: 'Empty when not given.' }
  }
}))

const Contact = { phone_number: PhoneNumber(), variables: StoredVariables }

const ids = { lead_id: GivenId(), user_id: UserId, campaign_id: Id({}) }
const StoredContact = Type.Object({
  id: GivenId({ description: 'From the same sequence as lead ids.' }), ...Contact
}, { title: 'StoredContact' })
export type StoredContact = Static<typeof StoredContact>

const removed_contacts = Type.Array(GivenId(), { description: 'Secondary contacts that the lead does not have any more.' })

/** Only readers see these: they stand for contacts whose key is gone. */
const withoutKey = {
  erased_contacts: Type.Optional(Type.Array(GivenId(), { description: 'Contacts of whom the log has nothing but the id.' })),
  erased_places: Type.Optional(Type.Array(Type.Integer(), { description: 'Their numbers in the list of contacts, from 1.' }))
}

const SealedContact = Type.Object({ id: StoredContact.properties.id, sealed: Sealed }, { title: 'SealedContact' })
const SealedContacts = Type.Array(SealedContact, { description: 'Each under the key of its own number.' })

export const leadEvents = {
  /** Number and variables of the lead are sealed under the key of its number. */
  LeadCreated: firstVersion(Type.Object({
    ...ids, ...Contact, secondary_contacts: Type.Array(StoredContact), created_at: Instant(), ...withoutKey
  }), Type.Object({ ...ids, sealed: Sealed, secondary_contacts: SealedContacts, created_at: Instant() })),
  /** Variables that change are sealed under the key of the lead's number. */
  LeadUpdated: firstVersion(Type.Object({
    ...ids,
    changes: Type.Object({
      variables: Type.Optional(StoredVariables),
      secondary_contacts: Type.Optional(Type.Array(StoredContact, { description: 'All of them, in their order.' }))
    }, { title: 'StoredLeadChanges', description: 'Only what changes, each whole.' }),
    removed_contacts,
    updated_at: Instant(),
    ...withoutKey
  }), Type.Object({
    ...ids,
    changes: Type.Object({
      sealed: Type.Optional(Sealed), secondary_contacts: Type.Optional(SealedContacts)
    }, { title: 'SealedLeadChanges', description: 'Only what changes, each whole.' }),
    removed_contacts,
    updated_at: Instant()
  })),
  LeadStatusChanged: firstVersion(Type.Object({
    ...ids,
    contact_id: Nullable(GivenId(), { description: 'The secondary contact whose status it is; null for the lead itself.' }),
    status: LeadStatus({ description: 'As its user set it; reports of calls move it from here on.' }),
    changed_at: Instant()
  })),
  LeadDeleted: firstVersion(Type.Object({ ...ids, deleted_at: Instant() })),
  LeadErased: firstVersion(Type.Object({
    ...ids,
    with_lead: Type.Boolean({ description: 'Whether the lead is erased; else it goes on without these contacts.' }),
    contact_ids: Type.Array(GivenId(), { description: 'Secondary contacts that are erased: all of them with their lead.' }),
    digests: Type.Optional(Type.Array(Type.Object({
      contact_id: GivenId(), number_digest: Type.String({ pattern: '^[0-9a-f]{32}$' })
    }, { title: 'DigestOfContact' }), {
      description: 'Digests of the numbers of contacts that only went with their lead: so they are found when they are erased too.'
    })),
    erased_at: Instant()
  }))
}
export type LeadEvent = EventOf<typeof leadEvents>
export const leadEventTypes = typesOf(leadEvents)
export type LeadCreatedEvent = Extract<LeadEvent, { type: 'LeadCreated' }>
export type LeadUpdatedEvent = Extract<LeadEvent, { type: 'LeadUpdated' }>
export type LeadErasedEvent = Extract<LeadEvent, { type: 'LeadErased' }>

/** `digest` hides the phone number: one stream is one contact of one campaign. */
export const leadStream = (campaignId: number, digest: string) => `lead-${campaignId}-${digest}`

export type DigestOfContact = NonNullable<LeadErasedEvent['data']['digests']>[number]

/** Whether `id` is the erased person itself, and no contact that only went with its lead. */
export const isErasedPerson = (
  { lead_id, with_lead }: { lead_id: number, with_lead?: boolean }, id: number
): boolean => !with_lead || id === lead_id

export const erasedIds = ({ data: { lead_id, with_lead, contact_ids } }: LeadErasedEvent): number[] =>
  with_lead ? [lead_id, ...contact_ids] : contact_ids

/** The ids of the lead and of the secondary contacts that the event names. */
export function idsOf ({ type, data }: LeadEvent): number[] {
  switch (type) {
    case 'LeadCreated': {
      const { lead_id, secondary_contacts, erased_contacts = [] } = data
      return [lead_id, ...secondary_contacts.map(({ id }) => id), ...erased_contacts]
    }
    case 'LeadUpdated': {
      const { lead_id, changes: { secondary_contacts = [] }, removed_contacts, erased_contacts = [] } = data
      return [lead_id, ...secondary_contacts.map(({ id }) => id), ...removed_contacts, ...erased_contacts]
    }
    case 'LeadStatusChanged': return [data.contact_id ?? data.lead_id]
    case 'LeadDeleted': return [data.lead_id]
    case 'LeadErased': return [data.lead_id, ...data.contact_ids]
    default: return type satisfies never
  }
}

export const settingsStream = 'ringledger-settings'
