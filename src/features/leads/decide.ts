// The rules for leads of one contact in one campaign; the stream holds all of them.
import { idAt, type Circumstances, type Decider } from '../../domain/decider.js'
import { invalid } from '../../domain/rejection.js'
import { leadEventTypes, type LeadEvent } from './events.js'
import { evolve, mostLeads, type LeadState } from './evolve.js'
import type { NewLead } from './validate.js'

/** Its ids are the lead's, then one for each secondary contact. */
export type CreateLead = NewLead & Circumstances

export const leadDecider: Decider<LeadState, LeadEvent, CreateLead> = {
  initialState: { ids: [] },
  eventTypes: leadEventTypes,
  evolve,
  decide: createLead
}

const countOf = ({ ids, older = 0 }: LeadState) => ids.length + older

/** The contact is a lead of the campaign already, and must not be one twice. */
export const isDuplicate = ({ allow_dupplicate }: Pick<NewLead, 'allow_dupplicate'>, state: LeadState) =>
  countOf(state) > 0 && !allow_dupplicate

function createLead (command: CreateLead, state: LeadState): LeadEvent[] {
  const { ids, userId, now, campaign_id, phone_number, variables, secondary_contacts } = command
  if (isDuplicate(command, state)) {
    throw invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
    })
  }
  if (countOf(state) >= mostLeads) {
    throw invalid({ phone_number: [`is a lead of this campaign ${mostLeads} times already, which is the most`] })
  }
  const lead_id = idAt(ids, 0)
  const contacts = secondary_contacts.map((contact, index) => ({ id: idAt(ids, index + 1), ...contact }))
  const contact = { phone_number, variables, secondary_contacts: contacts }
  return [{ type: 'LeadCreated', data: { lead_id, user_id: userId, campaign_id, ...contact, created_at: now } }]
}
