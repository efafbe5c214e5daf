// An event store that a transfer reads or writes, in a schema of a database that several of them share.
import type { EventStoreDBClient } from '@eventstore/db-client'
import type { ScratchPostgres } from '@ringledger/embedded-postgres/testing'
import { Store } from '@ringledger/event-transfer'
import { lentClient } from '../../../src/log/connection.js'
import { scratchEventStore } from '../back-ends/scratch-event-store.js'
import type { Teardown } from '../teardown.js'

export interface Transferable {
  client: EventStoreDBClient
  store: Store
  url: string
  port: number
}

export async function transferable (t: Teardown, postgres: ScratchPostgres, schema: string): Promise<Transferable> {
  const { client, store: { url, port } } = await scratchEventStore(t, { postgres, schema })
  return { client, store: opened(t, url), url, port }
}

/** Closed in `t.teardown`. */
export function opened (t: Teardown, url: string): Store {
  const store = new Store(lentClient(url))
  t.teardown(() => store.close())
  return store
}
