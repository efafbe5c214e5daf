// An event store of a test's own, with a client; all gone with the test.
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import { startEventStore, type EventStoreOptions, type RunningEventStore } from '../../src/server.js'
import { type ScratchPostgres, scratchPostgres, type Teardown } from '@ringledger/embedded-postgres/testing'

export interface ScratchEventStore {
  postgres: ScratchPostgres
  store: RunningEventStore
  client: EventStoreDBClient
}

export interface ScratchOptions extends Partial<EventStoreOptions> {
  /** Else it has a database of its own. */
  postgres?: ScratchPostgres
}

/** Starts it in this process. */
export async function scratchEventStore (t: Teardown, options: ScratchOptions = {}): Promise<ScratchEventStore> {
  const postgres = options.postgres ?? await scratchPostgres(t)
  const store = await startEventStore({ databaseUrl: postgres.url, ...options })
  t.teardown(() => store.close())
  return { postgres, store, client: connect(t, store.url) }
}

/** A client of the official kind that goes away with the test. It waits for a machine that stands still. */
export function connect (t: Teardown, url: string): EventStoreDBClient {
  const patience = 'keepAliveInterval=600000&keepAliveTimeout=600000&defaultDeadline=60000'
  const client = EventStoreDBClient.connectionString(`${url}&${patience}`)
  // dispose() waits for streams, and without an end when their server is gone.
  t.teardown(() => Promise.race([client.dispose(), delay(500, undefined, { ref: false })]))
  return client
}

/**
 * Any credentials, for appends of a process with several clients. Without them the client sends batches, and keeps
 * those of all clients in one place, where a connection that breaks drops what the others wait for.
 */
export const unbatched = { username: 'engine', password: '' }

/** Everything a finite read answers. */
export async function collect<T> (read: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of read) all.push(one)
  return all
}

interface Asserts {
  ok (value: unknown, message: string): unknown
  match (found: unknown, wanted: object, message: string): unknown
}

/** Asserts that a call is refused with this error of the client, and with these fields. */
export async function refused (
  t: Asserts, call: Promise<unknown>, error: abstract new (...args: never[]) => Error, fields: object = {}
): Promise<void> {
  const failure = await call.then(() => undefined, (reason: unknown) => reason)
  const isIt = failure instanceof error
  t.ok(isIt, `is refused with ${isIt ? error.name : `${String(failure)} instead of ${error.name}`}`)
  t.match(failure, fields, 'and says why')
}
