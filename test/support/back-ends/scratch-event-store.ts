// An event store of a test's own, with a client, in a database of the run; all gone with the test.
import { type EventStoreDBClient, FORWARDS, START } from '@eventstore/db-client'
import { EventStoreConnection } from '../../../src/log/connection.js'
import { collect, connect } from '@ringledger/embedded-event-store/testing'
import type { ScratchPostgres } from '@ringledger/embedded-postgres/testing'
import { serveLog, type ServedLog, scratchPostgres } from './back-ends.js'
import type { Teardown } from '../teardown.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { toStoredEvent } from '../../../src/log/stored.js'

export { collect, connect, unbatched } from '@ringledger/embedded-event-store/testing'

export interface ScratchEventStore {
  postgres: ScratchPostgres
  store: ServedLog
  client: EventStoreDBClient
  connection: EventStoreConnection
}

interface ScratchEventStoreOptions {
  /** Holds its events; a database of its own when absent. */
  postgres?: ScratchPostgres
  schema?: string
}

/** Connects as the service does; closed with the test. */
export function connectionTo (t: Teardown, url: string, options?: { silentAfterMs?: number }): EventStoreConnection {
  const connection = new EventStoreConnection(url, options)
  t.teardown(() => connection.close())
  return connection
}

/** Starts it in the process that holds the back ends, whose code is warm. */
export async function scratchEventStore (
  t: Teardown, { postgres: given, schema }: ScratchEventStoreOptions = {}
): Promise<ScratchEventStore> {
  const postgres = given ?? await scratchPostgres(t)
  const store = await serveLog({ databaseUrl: postgres.url, schema })
  t.teardown(store.close)
  return { postgres, store, client: connect(t, store.url), connection: connectionTo(t, store.url) }
}

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
