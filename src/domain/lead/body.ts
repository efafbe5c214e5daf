// What a caller sends to create a lead.
import Type, { type Static } from 'typebox'
import { AnyObject, Id, PhoneNumber, type JsonObject } from '../json.js'

const Variables = Type.Unsafe<JsonObject & { customer_name?: string, email?: string }>(AnyObject({
  properties: {
    customer_name: { type: 'string', description: 'Name of the person to call.', examples: ['Ada Example'] },
    email: { type: 'string', description: 'E-mail address of the person to call.', examples: ['ada@example.com'] }
  },
  description: 'Free-form variables for the conversation.'
}))

export const SecondaryContactBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format.' }),
  variables: Type.Optional(Variables)
}, { title: 'NewSecondaryContact' })

export const CreateLeadBody = Type.Object({
  phone_number: PhoneNumber({ description: 'Phone number in E.164 format.' }),
  campaign_id: Id({ description: 'Campaign to create the lead for.', examples: [1] }),
  variables: Type.Optional(Variables),
  allow_dupplicate: Type.Optional(Type.Boolean({ default: false, description: 'Whether the campaign may hold this phone number more than once.' })),
  secondary_contacts: Type.Optional(Type.Array(SecondaryContactBody, { maxItems: 10, description: 'Other people to call for this lead.' }))
}, { title: 'NewLead' })

/** A field that the schema refused may be missing or wrong, and is then in `refused`. */
export type LeadBody = Partial<Static<typeof CreateLeadBody>>
