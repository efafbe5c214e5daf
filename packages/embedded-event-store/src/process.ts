// The child process: takes `--port N` and DATABASE_URL, prints `LISTENING <port>`. Ends on a signal; fails with one
// line of explanation when it can no longer serve.
import { parseArgs } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { startEventStore } from './server.js'

// Reads allocate bytes outside V8's heap and few objects in it. By default, every few MiB of them trigger a marking of
// the whole heap, a third of the cost of a read. This delays it until the heap has tripled.
setFlagsFromString('--heap-growing-percent=200')

process.stderr.on('error', () => {}) // on a full disk, lines are lost

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })
const databaseUrl = process.env.DATABASE_URL ?? fail(new Error('DATABASE_URL is not set'))
const store = await startEventStore({ databaseUrl, port: Number(values.port), log: say }).catch(fail)
const stop = () => { void store.close().then(() => process.exit(0), fail) }
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop)
if (process.env.RINGLEDGER_STOP_ON_STDIN_CLOSE === '1') process.stdin.on('close', stop).on('end', stop).resume()
void store.lost.then(fail)
process.stdout.write(`LISTENING ${store.port}\n`)

function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

function fail (reason: Error): never {
  const { message } = reason
  say(`The event store cannot go on: ${reason instanceof AggregateError ? reason.errors.map(String).join('; ') : message}`)
  process.exit(1)
}
