// The event store as a process of its own: `--port N` and DATABASE_URL in, `LISTENING <port>` out.
import { parseArgs } from 'node:util'
import { startEventStore } from './server.js'

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })

function fail (message: string): never {
  process.stderr.write(`The event store cannot go on: ${message}\n`)
  process.exit(1)
}

const messageOf = (error: unknown) => error instanceof AggregateError ? error.errors.map(String).join('; ') : error instanceof Error ? error.message : String(error)

const databaseUrl = process.env.DATABASE_URL ?? fail('DATABASE_URL is not set')
const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : fail(`${values.port} is not a port`)
const log = (line: string) => { process.stderr.write(`${line}\n`) }
const store = await startEventStore({ databaseUrl, port, log }).catch((error: unknown) => fail(messageOf(error)))

const stop = () => { void store.close().then(() => process.exit(0)) } // nothing else keeps this process
process.on('SIGTERM', stop)
process.on('SIGINT', stop)
if (process.env.RINGLEDGER_STOP_ON_STDIN_CLOSE === '1') process.stdin.on('close', stop).on('end', stop).resume()
void store.lost.then((error) => fail(messageOf(error)))
process.stdout.write(`LISTENING ${store.port}\n`)
