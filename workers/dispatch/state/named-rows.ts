// Which rows of the dispatch state events name.
import type { DomainEvent } from '../../../src/domain/events.js'
import { erasedIds } from '../../../src/features/leads/events.js'
import type { DispatchState } from './state.js'

interface Ids { has (id: number): boolean }

/** Those of the ids that rows do not have, once each, without those that are known to be nowhere. */
export const missing = (rows: Ids, ids: number[], absent: Ids = new Set()) =>
  [...new Set(ids)].filter((id) => !rows.has(id) && !absent.has(id))

/** Of the people that the event names. */
export function contactIds (event: DomainEvent): number[] {
  const { type, data } = event
  switch (type) {
    case 'LeadErased': return erasedIds(event)
    case 'CallCompleted': return data.lead_id === null ? [] : [data.lead_id]
    case 'LeadCreated': return [data.lead_id, ...data.secondary_contacts.map(({ id }) => id), ...data.erased_contacts ?? []]
    case 'LeadUpdated': {
      const contacts = data.changes.secondary_contacts?.map(({ id }) => id) ?? []
      return [data.lead_id, ...contacts, ...data.erased_contacts ?? []]
    }
    case 'LeadStatusChanged': return [data.contact_id ?? data.lead_id]
    default: return []
  }
}

/** Takes what `events` create, and the state does not have, for rows that are nowhere. */
export function presumeAbsent (state: DispatchState, events: DomainEvent[]): void {
  for (const event of events) {
    switch (event.type) {
      case 'AssistantCreated':
        presume('assistants', [event.data.assistant_id])
        break
      case 'LeadCreated':
        presume('leads', contactIds(event))
        break
      case 'CampaignCreated':
        presume('campaigns', [event.data.campaign_id])
        break
      default:
    }
  }

  function presume (table: keyof DispatchState['presumedAbsent'], ids: number[]) {
    for (const id of missing(state[table], ids)) state.presumedAbsent[table].add(id)
  }
}
