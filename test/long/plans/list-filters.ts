// The filters that lists take, by what they leave of a table that is filled from one instant to another.
import type { OwnFilter } from '../../../projections/catalog.js'
import type { CallFilter } from '../../../projections/calls.js'
import type { LeadFilter } from '../../../projections/find-leads.js'
import type { DeliveryFilter } from '../../../workers/deliveries/read.js'

/** @param everything the first instant @param end the last one */
export function listFilters (everything: string, end: string) {
  const leadFilters: Record<string, Omit<LeadFilter, 'userId'>> = {
    'no filter': {},
    campaign: { campaignId: 4 },
    status: { status: 'completed' },
    'the beginning of every phone number': { phonePrefix: '+1555' },
    'the beginning of few phone numbers': { phonePrefix: '+15550012' },
    'all days': { createdFrom: everything, createdTo: end },
    'the last minutes': { createdFrom: new Date(Date.parse(end) - 300_000).toISOString() },
    'a word of all': { searched: 'ada' },
    'words of few': { searched: 'Ada example77' },
    'a searched number': { searched: '+15550012' },
    'what changed in the last minutes': { updatedFrom: new Date(Date.parse(end) - 300_000).toISOString() },
    'what changed ever': { updatedFrom: everything },
    'every filter': { campaignId: 4, status: 'created', phonePrefix: '+1', createdFrom: everything, createdTo: end }
  }
  const callFilters: Record<string, Omit<CallFilter, 'userId'>> = {
    'no filter': {},
    assistant: { assistantId: 4 },
    lead: { leadId: 44 },
    status: { status: 'completed' },
    campaign: { campaignId: 4 },
    direction: { direction: 'inbound' },
    'the beginning of every phone number': { phonePrefix: '+1555' },
    'the beginning of few phone numbers': { searchedPrefix: '+15550012' },
    'a word of all': { searched: 'ada' },
    'words of few': { searched: 'Ada example77' },
    'what changed in the last minutes': { updatedFrom: new Date(Date.parse(end) - 300_000).toISOString() },
    'what changed ever': { updatedFrom: everything },
    'all days': { endedFrom: everything, endedTo: end },
    'every filter': { assistantId: 4, leadId: 44, status: 'failed', endedFrom: everything, endedTo: end }
  }
  return { leadFilters, callFilters, ...ownFilters(everything, end) }
}

function ownFilters (everything: string, end: string) {
  const changed: Record<string, Omit<OwnFilter, 'userId'>> = {
    'no filter': {},
    'what changed in the last minutes': { updatedFrom: new Date(Date.parse(end) - 300_000).toISOString() },
    'what changed ever': { updatedFrom: everything }
  }
  const campaignFilters = { ...changed, 'a word of all': { searched: 'SPRING' }, 'a word of few': { searched: '77' } }
  const numberFilters = {
    ...changed,
    'the beginning of every phone number': { searched: '+1555' },
    'the beginning of few phone numbers': { searched: '+15550012' }
  }
  const deliveryFilters: Record<string, Omit<DeliveryFilter, 'userId'>> = {
    'no filter': {},
    assistant: { assistantId: 4 },
    call: { callId: 'call-44' },
    status: { status: 'exhausted' },
    held: { status: 'held' },
    'an outcome of all': { outcome: 'delivered' },
    'an outcome of few': { outcome: 'dns' },
    'a status code of few': { statusCode: 410 },
    'all days': { createdFrom: everything, createdTo: end },
    'every filter': { assistantId: 4, callId: 'call-44', status: 'delivered', createdFrom: everything, createdTo: end }
  }
  return { campaignFilters, numberFilters, deliveryFilters }
}
