// Event stores to transfer from and to, on one Postgres.
import { EventStoreDBClient } from '@eventstore/db-client'
import { scratchEventStore } from '@ringledger/embedded-event-store/testing'
import { scratchPostgres, type Teardown } from '@ringledger/embedded-postgres/testing'
import { Store } from '../../src/store.js'
import { logOf } from '../../src/source.js'
import { transfer, type TransferOptions, type Transferred } from '../../src/transfer.js'

/** Makes a store for a test, each in a schema of its own. */
export async function placesOn (file: Teardown) {
  const postgres = await scratchPostgres(file)
  let schemas = 0
  return async (t: Teardown) => {
    const { client, store: server } = await scratchEventStore(t, { postgres, schema: `log_${schemas++}` })
    const { url } = server
    return { client, server, store: opened(t, url), url }
  }
}

export type Place = Awaited<ReturnType<Awaited<ReturnType<typeof placesOn>>>>

export function opened (t: Teardown, url: string): Store {
  const store = new Store(EventStoreDBClient.connectionString(url))
  t.teardown(() => store.close())
  return store
}

export async function copy (from: Store, to: Store, options: Partial<TransferOptions> = {}): Promise<Transferred> {
  const { signal } = new AbortController()
  return await transfer(await logOf(from), to, { inFlight: 256, signal, onProgress () {}, ...options })
}
