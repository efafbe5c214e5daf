// Which calls a caller wants: of the list and of the export.
import Type, { type Static } from 'typebox'
import { CallSummary } from '../summary.js'
import { Id } from '../../../domain/json.js'
import { dateRange, earliest, latest } from '../../../http/input/day-or-instant.js'
import { beginningOf, isNumber, PhoneBeginning, Search, searched, updatedFrom } from '../../../http/lists/search.js'
import type { Source } from '../../../http/read-position.js'
import type { CallFilter } from '../../../../projections/find-calls.js'

export const callFilters = {
  assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
  lead_id: Type.Optional(Id({ description: 'Only those to this lead or secondary contact.' })),
  status: Type.Optional(CallSummary.properties.status),
  campaign_id: Type.Optional(Id({ description: 'Only those to leads of this campaign.' })),
  direction: Type.Optional(CallSummary.properties.direction),
  phone_number: Type.Optional(PhoneBeginning('the customer’s phone number, the called one of an outbound call')),
  search: Type.Optional(Search(
    'customer_name, email or phone number of the lead or secondary contact, as they are now',
    'Digits alone are the beginning of the phone number of the call.')),
  ...updatedFrom,
  ...dateRange('ended')
}

export const CallFilters = Type.Object(callFilters)

/** Names are those of leads. */
export const sourcesOfCalls = ({ search }: { search?: unknown }): Source[] =>
  typeof search === 'string' && !isNumber(search) ? ['calls', 'leads'] : ['calls']

export function callFilterOf (userId: string, query: Static<typeof CallFilters>): CallFilter {
  const { assistant_id, lead_id, status, date_from, date_to } = query
  return {
    userId,
    assistantId: assistant_id,
    leadId: lead_id,
    status,
    campaignId: query.campaign_id,
    direction: query.direction,
    phonePrefix: beginningOf(query.phone_number),
    ...searched(query.search),
    updatedFrom: earliest(query.updated_from),
    endedFrom: earliest(date_from),
    endedTo: latest(date_to)
  }
}
