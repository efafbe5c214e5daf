// A process that reads the log as a projection does, and folds nothing. In: EVENTSTORE_URL, event types. Out: JSON.
import { parseArgs } from 'node:util'
import { EventStoreConnection } from '../../src/event-store/connection/connection.js'
import { openStreams } from '../../src/event-store/streams.js'
import { CatchUp } from '../../src/event-store/subscribe.js'

const { positionals: eventTypes } = parseArgs({ allowPositionals: true })
const connection = new EventStoreConnection(process.env.EVENTSTORE_URL ?? '')
const head = await openStreams(connection).head()

const startedAt = performance.now()
const feed = new CatchUp(connection, { after: 0n, eventTypes })
let events = 0
for (let position = 0n; position < head;) {
  const batch = await feed.next()
  events += batch.events.length
  position = batch.position
}
process.stdout.write(JSON.stringify({ events, seconds: (performance.now() - startedAt) / 1_000 }))
await feed.close()
await connection.close()
