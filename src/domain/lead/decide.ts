// The rules for leads of one contact in one campaign; the stream holds all of them.
import { idAt, type Circumstances, type Decider } from '../decider.js'
import { invalid } from '../rejection.js'
import type { LeadEvent } from './events.js'
import { evolve, type LeadState } from './evolve.js'
import type { NewLead } from './validate.js'

/** Its ids are the lead's, then one for each secondary contact. */
export type CreateLead = NewLead & Circumstances

export const leadDecider: Decider<LeadState, LeadEvent, CreateLead> = {
  initialState: [],
  eventTypes: ['LeadCreated'],
  evolve,
  decide: createLead
}

function createLead (command: CreateLead, leads: LeadState): LeadEvent[] {
  const { ids, userId, now, campaign_id, phone_number, variables, allow_dupplicate, secondary_contacts } = command
  if (leads.length > 0 && !allow_dupplicate) {
    throw invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
    })
  }
  const lead_id = idAt(ids, 0)
  const contacts = secondary_contacts.map((contact, index) => ({ id: idAt(ids, index + 1), ...contact }))
  const contact = { phone_number, variables, secondary_contacts: contacts }
  return [{ type: 'LeadCreated', data: { lead_id, user_id: userId, campaign_id, ...contact, created_at: now } }]
}
