// What happens to a lead after its creation, as the log holds it.
import type { DomainEvent } from '../../../src/domain/events.js'
import { type LeadStatus, leadStream } from '../../../src/features/leads/events.js'
import { at, nameless, tell } from './call-events.js'

const onLead = (lead_id: number, campaign_id: number, event: DomainEvent) =>
  tell(leadStream(campaign_id, String(lead_id)), event)

/** Its contacts are replaced, where any are given. */
export const leadUpdated = (
  lead_id: number, campaign_id: number, contacts?: number[], removed_contacts: number[] = [], user_id = '1'
) => onLead(lead_id, campaign_id, {
  type: 'LeadUpdated',
  data: {
    lead_id,
    user_id,
    campaign_id,
    changes: {
      variables: { customer_name: 'Changed', email: '' },
      ...(contacts && {
        secondary_contacts: contacts.map((id) => ({ id, phone_number: '+15551230002', variables: { ...nameless, id } }))
      })
    },
    removed_contacts,
    updated_at: at
  }
})

export const leadStatusChanged = (
  lead_id: number, campaign_id: number, status: LeadStatus, contact_id: number | null = null, user_id = '1'
) => onLead(lead_id, campaign_id, {
  type: 'LeadStatusChanged', data: { lead_id, user_id, campaign_id, contact_id, status, changed_at: at }
})

export const leadDeleted = (lead_id: number, campaign_id: number, user_id = '1') =>
  onLead(lead_id, campaign_id, { type: 'LeadDeleted', data: { lead_id, user_id, campaign_id, deleted_at: at } })
