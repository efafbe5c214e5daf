// What happens to a lead, on the stream `lead-<campaign id>-<digest of the phone number>`.
import Type, { type Static } from 'typebox'
import { AnyObject, GivenId, Id, Instant, PhoneNumber, type JsonObject } from '../json.js'
import { UserId } from '../user.js'

/** Free-form variables of a contact; `customer_name` and `email` are always there, empty when not given. */
export type ContactVariables = JsonObject & { customer_name: string, email: string }

const StoredVariables = Type.Unsafe<ContactVariables>(AnyObject({
  description: 'Whatever was given with the contact.',
  required: ['customer_name', 'email'],
  properties: {
    customer_name: { type: 'string', description: 'Empty when not given.' },
    email: { type: 'string', description: 'Empty when not given.' }
  }
}))

const Contact = { phone_number: PhoneNumber(), variables: StoredVariables }

export const LeadCreated = Type.Object({
  lead_id: GivenId(),
  user_id: UserId,
  campaign_id: Id({}),
  ...Contact,
  secondary_contacts: Type.Array(Type.Object({
    id: GivenId({ description: 'From the same sequence as lead ids.' }), ...Contact
  })),
  created_at: Instant()
})

export type LeadEvent = { type: 'LeadCreated', data: Static<typeof LeadCreated> }

/** `digest` hides the phone number: one stream is one contact of one campaign. */
export const leadStream = (campaignId: number, digest: string) => `lead-${campaignId}-${digest}`
