// A lead as callers see it; write and read side use the same function.
import Type, { type Static } from 'typebox'
import { AnyObject, Id } from '../json.js'
import { spacedTime } from '../spaced-time.js'
import type { ContactVariables, LeadEvent } from './events.js'

export const leadStatuses = ['created', 'scheduled', 'processing', 'completed', 'rescheduled', 'reached-max-retries', 'blacklisted'] as const
export type LeadStatus = typeof leadStatuses[number]

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
}

const contact = {
  id: Id({ description: 'Unique identifier.' }),
  phone_number: Type.String({ description: 'E.164 format.' }),
  variables: AnyObject({ description: 'Holds customer_name and email, empty strings when they were not given.' }),
  status: Type.Enum([...leadStatuses], { description: 'Status; created after creation.' }),
  created_at: Type.String({ description: 'UTC, YYYY-MM-DD HH:MM:SS.', examples: ['2026-01-31 12:00:00'] }),
  updated_at: Type.String({ description: 'UTC, YYYY-MM-DD HH:MM:SS.', examples: ['2026-01-31 12:00:00'] })
}

export const ContactAnswer = Type.Object(contact, { title: 'SecondaryContact' })
export const LeadAnswer = Type.Object({
  ...contact,
  campaign_id: Id({ description: 'Campaign the lead belongs to.' }),
  campaign: Type.Object({ id: Id({}), name: Type.String() }),
  secondary_contacts: Type.Array(ContactAnswer)
}, { title: 'Lead' })
export type LeadAnswer = Static<typeof LeadAnswer>

/** The lead that an event created, before any call moved its status. */
export function leadOf ({ data }: LeadEvent): Lead {
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

/** Of the leads of a contact the one with the first of these ids. @throws when there is none */
export function createdLead (leads: readonly Lead[], ids: readonly number[]): Lead {
  const found = leads.find(({ id }) => id === ids[0])
  if (!found) throw new Error(`there is no lead ${ids[0]}`)
  return found
}

/** The lead object of the interface: exactly the documented keys. */
export function describeLead (lead: Lead, campaignName: string): LeadAnswer {
  return {
    ...describeContact(lead),
    campaign_id: lead.campaign_id,
    campaign: { id: lead.campaign_id, name: campaignName },
    secondary_contacts: lead.secondary_contacts.map(describeContact)
  }
}

function describeContact ({ id, phone_number, variables, status, created_at, updated_at }: Contact): Static<typeof ContactAnswer> {
  return { id, phone_number, variables, status, created_at: spacedTime(created_at), updated_at: spacedTime(updated_at) }
}
