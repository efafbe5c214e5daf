// A process that appends. In: esdb://…, how many in flight, from when, until when. Out: the latencies in ms, as JSON.
import { parseArgs } from 'node:util'
import { EventStoreDBClient } from '@eventstore/db-client'
import { appendUntil } from './load.js'

const { positionals: [url = '', ...numbers] } = parseArgs({ allowPositionals: true })
const [inFlight = 1, beginAt = 0, endAt = 0] = numbers.map(Number)
const client = EventStoreDBClient.connectionString(url)
process.stdout.write(JSON.stringify(await appendUntil(client, inFlight, beginAt, endAt)))
await client.dispose()
