// The log as it stands, for tests that count what was written.
import { FORWARDS, START, type EventStoreDBClient } from '@eventstore/db-client'
import { collect } from '@ringledger/embedded-event-store/testing'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { toStoredEvent } from '../../../src/log/stored.js'

/** Every event after a position of $all, oldest first; those of the store itself are left out. */
export async function eventsAfter (client: EventStoreDBClient, position: bigint): Promise<StoredEvent[]> {
  const fromPosition = position === 0n ? START : { commit: position, prepare: position }
  const resolved = await collect(client.readAll({ direction: FORWARDS, fromPosition }))
  return resolved.flatMap(({ event }) => event && !event.type.startsWith('$') ? [toStoredEvent(event)] : [])
    .filter((event) => event.position > position)
}

/** The id that an event gave out. */
export function idOf ({ data }: StoredEvent): unknown {
  return Object.entries(Object(data)).find(([name]) => name === 'assistant_id' || name === 'lead_id')?.[1]
}
