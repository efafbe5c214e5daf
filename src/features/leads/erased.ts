// What is left in the log of a lead or a secondary contact whose person was erased, on the stream of the lead.
import Type, { type Static } from 'typebox'
import { GivenId, Id, Instant } from '../../domain/json.js'
import { UserId } from '../api-keys/user.js'

export const LeadErased = Type.Object({
  lead_id: GivenId(),
  user_id: UserId,
  campaign_id: Id({}),
  with_lead: Type.Boolean({ description: 'Whether the lead is erased; else it goes on without these contacts.' }),
  contact_ids: Type.Array(GivenId(), { description: 'Secondary contacts that are erased: all of them with their lead.' }),
  digests: Type.Optional(Type.Array(Type.Object({
    contact_id: GivenId(), number_digest: Type.String({ pattern: '^[0-9a-f]{32}$' })
  }, { title: 'DigestOfContact' }), {
    description: 'Of the numbers of contacts that only went with their lead: so they are found when they are erased too.'
  })),
  erased_at: Instant()
})

export type LeadErasedEvent = { type: 'LeadErased', data: Static<typeof LeadErased> }

export type DigestOfContact = NonNullable<LeadErasedEvent['data']['digests']>[number]

/** Whether a lead or contact that it tells of is the person; a contact that only went with its lead is not. */
export const isErasedPerson = (
  { lead_id, with_lead }: { lead_id: number, with_lead?: boolean }, id: number
): boolean => !with_lead || id === lead_id

/** Of the persons that are erased. */
export const erasedIds = ({ data: { lead_id, with_lead, contact_ids } }: LeadErasedEvent): number[] =>
  with_lead ? [lead_id, ...contact_ids] : contact_ids
