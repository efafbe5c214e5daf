// Which leads a caller wants: of the list and of the export.
import Type, { type Static } from 'typebox'
import { Id } from '../../../domain/json.js'
import { LeadAnswer } from '../summary.js'
import { dateRange, earliest, latest } from '../../../http/input/day-or-instant.js'
import { beginningOf, PhoneBeginning, Search, updatedFromAlso } from '../../../http/lists/search.js'
import type { LeadFilter } from '../../../../projections/find-leads.js'

export const leadFilters = {
  campaign_id: Type.Optional(Id({ description: 'Only those of this campaign.' })),
  status: Type.Optional(LeadAnswer.properties.status),
  phone_number: Type.Optional(PhoneBeginning('the phone number')),
  search: Type.Optional(Search('customer_name, email or phone number of the lead, or of one of its secondary contacts')),
  ...updatedFromAlso('by a call, a secondary contact, your do-not-call list or the name of their campaign'),
  ...dateRange('created')
}

export const LeadFilters = Type.Object(leadFilters)

export function leadFilterOf (userId: string, query: Static<typeof LeadFilters>): LeadFilter {
  return {
    userId,
    campaignId: query.campaign_id,
    status: query.status,
    phonePrefix: beginningOf(query.phone_number),
    searched: query.search,
    updatedFrom: earliest(query.updated_from),
    createdFrom: earliest(query.date_from),
    createdTo: latest(query.date_to)
  }
}
