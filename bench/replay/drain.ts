// A process that reads the log as a projection does, and folds nothing. In: EVENTSTORE_URL, event types. Out: JSON.
import { parseArgs } from 'node:util'
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client'
import { catchUp } from '../../src/event-store/subscribe.js'

const { positionals: eventTypes } = parseArgs({ allowPositionals: true })
const client = EventStoreDBClient.connectionString(process.env.EVENTSTORE_URL ?? '')
let head = 0n
const last = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
for await (const { event } of last) head = event?.position.commit ?? 0n

const startedAt = performance.now()
const feed = catchUp(client, { after: 0n, eventTypes })
let events = 0
for (let position = 0n; position < head;) {
  const batch = await feed.next()
  events += batch.events.length
  position = batch.position
}
process.stdout.write(JSON.stringify({ events, seconds: (performance.now() - startedAt) / 1_000 }))
await feed.close()
await client.dispose()
