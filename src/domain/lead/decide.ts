// The rules for leads of one contact in one campaign; the stream holds all of them.
import { idAt, type Circumstances, type Decider } from '../decider.js'
import { invalid } from '../rejection.js'
import { leadEventTypes, type LeadEvent } from './events.js'
import { evolve, type LeadState } from './evolve.js'
import type { NewLead } from './validate.js'

/** Its ids are the lead's, then one for each secondary contact. */
export type CreateLead = NewLead & Circumstances

/** Nobody calls a person so often. Without a limit a client in a loop would make a stream that takes long to read. */
const mostLeads = 1_000

export const leadDecider: Decider<LeadState, LeadEvent, CreateLead> = {
  initialState: { ids: [] },
  eventTypes: leadEventTypes,
  evolve,
  decide: createLead
}

/** The contact is a lead of the campaign already, and must not be one twice. */
export const isDuplicate = (
  { allow_dupplicate }: Pick<NewLead, 'allow_dupplicate'>, { ids }: Pick<LeadState, 'ids'>
) => ids.length > 0 && !allow_dupplicate

function createLead (command: CreateLead, { ids: present }: LeadState): LeadEvent[] {
  const { ids, userId, now, campaign_id, phone_number, variables, secondary_contacts } = command
  if (isDuplicate(command, { ids: present })) {
    throw invalid({
      phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
    })
  }
  if (present.length >= mostLeads) {
    throw invalid({ phone_number: [`is a lead of this campaign ${mostLeads} times already, which is the most`] })
  }
  const lead_id = idAt(ids, 0)
  const contacts = secondary_contacts.map((contact, index) => ({ id: idAt(ids, index + 1), ...contact }))
  const contact = { phone_number, variables, secondary_contacts: contacts }
  return [{ type: 'LeadCreated', data: { lead_id, user_id: userId, campaign_id, ...contact, created_at: now } }]
}
