// What the dispatcher knows of one assistant, lead or campaign.
import type { AssistantSettings } from '../../../src/features/assistants/events.js'
import { isErasedPerson, type LeadErasedEvent } from '../../../src/features/leads/events.js'
import type { Calling } from '../../../src/features/leads/model.js'
import { relevantSettings, type PayloadAssistant, type PayloadLead, type RelevantSettings } from '../payload.js'

/** Contacts alone, or with their lead. */
type ErasedOf = Pick<LeadErasedEvent['data'], 'lead_id' | 'user_id' | 'campaign_id'> & { with_lead?: boolean }

export interface KnownAssistant extends PayloadAssistant { revision: bigint }
/** `revision` is that of the last event of its stream that changed it. */
export interface KnownLead extends PayloadLead, Calling {
  revision: bigint
  /** It is the person that was erased; a contact that only went with its lead is not. */
  is_erased?: boolean
}
export interface KnownCampaign { campaign_id: number, revision: bigint, name: string }

const nobody = {
  phone_number: '', variables: { customer_name: '', email: '' }, status: 'created' as const, newest_report_at: null
}

/** The row of one whose person was erased. */
export const erasedRow = (
  id: number, erased: ErasedOf, revision: bigint, was_erased = false
): KnownLead => ({
  ...nobody,
  id,
  primary_id: id === erased.lead_id ? null : erased.lead_id,
  user_id: erased.user_id,
  campaign_id: erased.campaign_id,
  revision,
  is_erased: was_erased || isErasedPerson(erased, id)
})

/** Whether the person of the row was erased. */
export const isNobody = ({ phone_number }: KnownLead) => phone_number === ''

export function pickRelevant<Given extends Partial<AssistantSettings>> (
  settings: Given
): Pick<Given, keyof Given & keyof RelevantSettings> {
  const picked = relevantSettings.filter((name) => settings[name] !== undefined).map((name) => [name, settings[name]])
  return Object.fromEntries(picked)
}
