// Writes a history into the table of an embedded event store that is not running: a million appends would take minutes.
import pg from 'pg'
import { createSchema, EventTable, type RecordedEvent } from '@ringledger/embedded-event-store/storage'

const bytesAtOnce = 4 * 2 ** 20

/** An event and where in its stream it is; `created` is Unix milliseconds. */
export interface Written {
  stream: string
  revision: number
  id: string
  type: string
  data: object
  metadata: Record<string, string>
  created: number
}

interface Filled {
  events: number
  /** Of data and metadata. */
  bytes: number
  /** Making the history up included. */
  seconds: number
}

/**
 * The same rows that the server writes, by its own statement, at the positions that follow the log's head; only that
 * nothing waits for the disk until the end, and that there is no gRPC in between.
 */
export async function fill (databaseUrl: string, history: Iterable<Written>): Promise<Filled> {
  const startedAt = performance.now()
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await createSchema(client, 'eventstore')
  await client.query('set synchronous_commit = off')
  const table = new EventTable('eventstore')
  const head = await table.head(client)
  const filled = { events: 0, bytes: 0 }
  let inserting: Promise<unknown> = Promise.resolve()
  for (const events of batches(history, head)) {
    await inserting
    inserting = table.insert(client, events)
    filled.events += events.length
    filled.bytes += events.reduce((sum, event) => sum + weight(event), 0)
  }
  await inserting
  const seconds = (performance.now() - startedAt) / 1_000
  await client.query('vacuum analyze eventstore.events') // as autovacuum would, in the middle of what is measured
  await client.query('checkpoint')
  await client.end()
  return { ...filled, seconds }
}

const weight = ({ data, metadata }: RecordedEvent) => data.length + metadata.length

function * batches (history: Iterable<Written>, head: number): Generator<RecordedEvent[], void> {
  let [batch, bytes, position] = [[] as RecordedEvent[], 0, head]
  for (const { stream, revision, id, type, data, metadata, created } of history) {
    const contents = { isJson: true, data: encode(data), metadata: encode(metadata) }
    const event = { position: ++position, stream, revision, id, type, created, ...contents }
    batch.push(event)
    bytes += weight(event)
    if (bytes < bytesAtOnce) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

const encode = (value: object) => Buffer.from(JSON.stringify(value))
