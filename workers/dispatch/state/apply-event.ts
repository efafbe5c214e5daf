// What an event that is no call changes of the dispatch state.
import type { DomainEvent } from '../../../src/domain/events.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import type { DispatchState } from './state.js'

/**
 * What an event makes known; a call is dispatched instead. An assistant or a lead that was deleted stays known: its
 * calls may end later.
 */
export function applyEvent (state: DispatchState, stored: StoredEvent, event: DomainEvent): void {
  const { type, data } = event
  switch (type) {
    case 'AssistantCreated': return state.assistantCreated(data, stored.revision)
    case 'AssistantUpdated': return state.assistantUpdated(data, stored.revision)
    case 'LeadCreated': return state.leadCreated(data, stored.revision)
    case 'LeadUpdated': return state.leadUpdated(data, stored.revision)
    case 'LeadStatusChanged': return state.leadStatusChanged(data, stored.revision)
    case 'LeadErased': return state.leadErased(event, stored.revision)
    case 'CampaignCreated':
    case 'CampaignRenamed': return state.campaignNamed(data, stored.revision)
    case 'PhoneNumberBlacklisted':
    case 'PhoneNumberUnblacklisted': return state.listings.changedBy(event, stored.revision)
    default: // not subscribed to, or dispatched as a call
  }
}
