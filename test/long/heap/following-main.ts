// Follows events of one type past many others, to a position, in a process with a small heap. It prints how many came.
import { EventStoreConnection } from '../../../src/log/connection.js'
import { EventLog } from '../../../src/log/event-log.js'

process.stdin.resume().on('close', () => process.exit()) // the test is gone
const [url = '', type = '', end = ''] = process.argv.slice(2)
const streams = new EventLog(new EventStoreConnection(url))
const { signal } = new AbortController()
let count = 0
for await (const { events, position } of streams.follow({ after: 0n, eventTypes: [type], signal })) {
  count += events.length
  if (position >= BigInt(end)) break
}
process.stdout.write(`${JSON.stringify({ count })}\n`)
process.exit()
