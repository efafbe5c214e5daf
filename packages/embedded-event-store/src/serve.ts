// A server in a process of its own: prints `LISTENING <port>`, ends on a signal, fails when it can no longer serve.
import { setFlagsFromString } from 'node:v8'
import { startEventStore } from './server.js'

interface ServeRequest {
  databaseUrl: string
  port: number
  /** Ends what the server stands on, after it. */
  closeDatabase?: () => Promise<void>
}

// Reads make bytes outside of V8's heap and few objects in it. Every few MiB of them had the whole heap marked, at a
// third of what a read costs; now it waits until there is three times what is in use.
setFlagsFromString('--heap-growing-percent=200')

process.stderr.on('error', () => {}) // a line that a full disk does not take is lost

/** Resolves when it listens. */
export async function serve (request: ServeRequest): Promise<{ url: string, stop: () => void }> {
  const { databaseUrl, port, closeDatabase = async () => {} } = request
  const failClosed = async (reason: unknown): Promise<never> => await closeDatabase().then(() => fail(reason), fail)
  const store = await startEventStore({ databaseUrl, port, log: say }).catch(failClosed)
  const stop = () => { void store.close().then(closeDatabase).then(() => process.exit(0), fail) }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  void store.lost.then(failClosed)
  process.stdout.write(`LISTENING ${store.port}\n`)
  return { url: store.url, stop }
}

/** Progress and errors go to stderr. */
export function say (line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Says why in one line, and ends the process with status 1. */
export function fail (reason: unknown): never {
  say(`The event store cannot go on: ${messageOf(reason)}`)
  process.exit(1)
}

/** The port in a text; ends the process when the text is no port. */
export function portFrom (text: string): number {
  return /^\d{1,5}$/.test(text) && Number(text) < 65536 ? Number(text) : fail(`${text} is not a port`)
}

function messageOf (reason: unknown): string {
  if (reason instanceof AggregateError) return reason.errors.map(String).join('; ')
  return reason instanceof Error ? reason.message : String(reason)
}
