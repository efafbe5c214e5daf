// The event store as a process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort, type Teardown } from '@ringledger/embedded-postgres/testing'
import { processModule } from '../../src/child.js'

/** The module that the process runs. */
export const eventStoreEntry = fileURLToPath(processModule)

export type EventStoreProcess = Awaited<ReturnType<typeof eventStoreProcess>>

/** Starts it against a database, with these options of Node. Killed in `t.teardown`. */
export async function eventStoreProcess (t: Teardown, databaseUrl: string, options: readonly string[] = []) {
  let child: ChildProcess | undefined
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const server = {
    /** The same over restarts. */
    port: await freePort(),

    /** Rejects when it ends before it listens. */
    async start (): Promise<void> {
      const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
      const args = [...options, eventStoreEntry, '--port', String(server.port)]
      const started = child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
      let errors = ''
      started.stderr.on('data', (text: Buffer) => { errors += text.toString() })
      const [line]: unknown[] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')])
      if (!/^LISTENING \d+\n$/.test(String(line))) throw new Error(`The event store did not start: ${errors}`)
    },

    /** kill -9 */
    async kill (): Promise<void> {
      if (!isRunning()) return
      server.process().kill('SIGKILL')
      await server.exited()
    },

    /** The exit status, after it has ended. */
    async exited (): Promise<number | null> {
      if (isRunning()) await once(server.process(), 'exit')
      return server.process().exitCode
    },

    process (): ChildProcess {
      if (child === undefined) throw new Error('Never started')
      return child
    }
  }
  t.teardown(() => server.kill())
  await server.start()
  return server
}
