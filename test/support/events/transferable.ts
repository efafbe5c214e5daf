// An event store for transfers to read or write, in a schema of a shared database.
import type { EventStoreDBClient } from '@eventstore/db-client'
import type { ScratchPostgres } from '@ringledger/embedded-postgres/testing'
import { Store } from '@ringledger/event-transfer'
import { lentClient } from '../../../src/log/connection.js'
import { scratchEventStore } from '../back-ends/scratch-event-store.js'
import type { Teardown } from '../teardown.js'

interface Transferable {
  client: EventStoreDBClient
  store: Store
  url: string
  port: number
}

export async function transferable (t: Teardown, postgres: ScratchPostgres, schema: string): Promise<Transferable> {
  const { client, store: { url, port } } = await scratchEventStore(t, { postgres, schema })
  return { client, store: opened(t, url), url, port }
}

export function opened (t: Teardown, url: string): Store {
  const store = new Store(lentClient(url))
  t.teardown(() => store.close())
  return store
}
