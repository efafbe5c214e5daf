// The event store as a process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort, type Teardown } from '@ringledger/embedded-postgres/testing'
import { processModule } from '../../src/child.js'

/** Of the process. */
export const eventStoreEntry = fileURLToPath(processModule)

/** Starts it against a database, with these options of Node. Killed in `t.teardown`. */
export async function eventStoreProcess (
  t: Teardown, databaseUrl: string, options: readonly string[] = []
): Promise<EventStoreProcess> {
  const server = new EventStoreProcess(databaseUrl, options, await freePort())
  t.teardown(() => server.kill())
  await server.start()
  return server
}

export class EventStoreProcess {
  /** The same over restarts. */
  readonly port: number
  readonly #databaseUrl: string
  readonly #options: readonly string[]
  #child: ChildProcess | undefined

  constructor (databaseUrl: string, options: readonly string[], port: number) {
    this.port = port
    this.#databaseUrl = databaseUrl
    this.#options = options
  }

  /** Rejects when it ends before it listens. */
  async start (): Promise<void> {
    const env = { PATH: process.env.PATH, DATABASE_URL: this.#databaseUrl }
    const args = [...this.#options, eventStoreEntry, '--port', String(this.port)]
    const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child = started
    let errors = ''
    started.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const [line]: unknown[] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')])
    if (!/^LISTENING \d+\n$/.test(String(line))) throw new Error(`The event store did not start: ${errors}`)
  }

  /** kill -9 */
  async kill (): Promise<void> {
    if (this.#child === undefined || hasEnded(this.#child)) return
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exited
  }

  /** The exit status, after it has ended. */
  async exited (): Promise<number | null> {
    const child = this.process()
    if (!hasEnded(child)) await once(child, 'exit')
    return child.exitCode
  }

  process (): ChildProcess {
    if (this.#child === undefined) throw new Error('Never started')
    return this.#child
  }
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null
