// A log of several types, half of which a projection asks for.
import type { EventStoreDBClient } from '@eventstore/db-client'
import { event } from './load.js'

export const wantedTypes = ['AssistantUpdated', 'LeadCreated', 'LeadUpdated', 'CallCompleted']
const otherTypes = ['AssistantDeleted', 'LeadImported', 'CampaignRenamed', 'PhoneNumberAdded']
const types = [...wantedTypes, ...otherTypes]

/** Appends so many events, 100 an append, each type as often as the others. */
export async function fillVaried (client: EventStoreDBClient, count: number): Promise<void> {
  for (let filled = 0; filled < count; filled += 100) {
    const events = Array.from({ length: 100 }, (_, index) => ({ ...event(), type: typeAt(filled + index) }))
    await client.appendToStream(`filled-${filled % 10_000}`, events)
  }
}

const typeAt = (index: number) => types[index % types.length] ?? ''
