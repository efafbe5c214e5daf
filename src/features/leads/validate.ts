// What a caller sends to create a lead, and what is wrong with it, without regard to the leads that exist.
import Type, { type Static } from 'typebox'
import { customer } from '../../domain/examples.js'
import { AnyObject, Id, PhoneNumber, documentedAs, variableLimits, type JsonObject } from '../../domain/json.js'
import { onTheList, type Listed } from '../blacklist/listed.js'
import { problem, repeated, soundBody, type Problem, type Submitted } from '../../domain/validation.js'
import type { ContactVariables } from './events.js'

export const Variables = Type.Unsafe<JsonObject & { customer_name?: string, email?: string }>(AnyObject({
  properties: {
    customer_name: { type: 'string', description: 'Name of the person to call.', examples: [customer.customer_name] },
    email: { type: 'string', description: 'E-mail address of the person to call.', examples: ['ada@example.com'] }
  },
  ...variableLimits,
  ...documentedAs(AnyObject(variableLimits)),
  description: 'Free-form variables for the conversation. The texts `customer_name` and `email` are of the person to call.'
}))

export const SecondaryContactBody = Type.Object({
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

/** What is true outside the stream. An absent fact is not known, and refuses nothing. */
export interface LeadFacts {
  /** The name of the campaign; null when it is not one of the user's. */
  campaignName?: string | null | undefined
  /** It takes no lead any more; answers of before name it still. */
  isCampaignDeleted?: boolean
  /** Of its numbers, those that must not be called. */
  listed?: Listed
}

export interface NewContact {
  phone_number: string
  variables: ContactVariables
}

export interface NewLead extends NewContact {
  campaign_id: number
  allow_dupplicate: boolean
  secondary_contacts: NewContact[]
}

/** @throws Rejection `invalid` with every problem */
export function validateLead (
  submitted: Submitted<CreateLeadBody>, { campaignName, isCampaignDeleted, listed }: LeadFacts
): NewLead {
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
  return [
    phone_number !== undefined && listed.has(phone_number) && problem('phone_number', onTheList),
    ...listedContacts(secondary_contacts, listed)
  ]
}

/** Takes items that the schema refused, too. */
function listedContacts (items: unknown, listed: Listed): Problem[] {
  if (!Array.isArray(items)) return []
  return items.map((item: unknown, at) => {
    const number: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, 'phone_number') : undefined
    return typeof number === 'string' && listed.has(number) && problem(`secondary_contacts.${at}.phone_number`, onTheList)
  })
}

export function contactOf (
  { phone_number, variables }: Pick<CreateLeadBody, 'phone_number' | 'variables'>
): NewContact {
  return { phone_number, variables: variablesOf(variables) }
}

export function variablesOf (variables: CreateLeadBody['variables']): ContactVariables {
  const { customer_name = '', email = '' } = variables ?? {}
  return { ...variables, customer_name, email }
}
