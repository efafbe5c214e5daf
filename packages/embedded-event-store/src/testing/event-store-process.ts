// The event store as a process that can be killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Teardown } from '@ringledger/embedded-postgres/testing'
import { processModule } from '../child.js'

/** Of the process. */
export const eventStoreEntry = fileURLToPath(processModule)

export interface EventStoreProcess {
  port: number
  /** Starts it again on the same port. Rejects when it ends before it listens. */
  start (): Promise<void>
  /** kill -9 */
  kill (): Promise<void>
  /** The exit status after `stop`, or after it ended by itself. */
  exited (): Promise<number | null>
  process (): ChildProcess
}

/** Starts it against a database, with these options of Node. Killed in `t.teardown`. */
export async function eventStoreProcess (t: Teardown, databaseUrl: string, options: readonly string[] = []): Promise<EventStoreProcess> {
  let child: ChildProcess | undefined
  let port = 0
  let errors = ''

  async function start () {
    const env = { PATH: process.env.PATH, DATABASE_URL: databaseUrl }
    const args = [...options, eventStoreEntry, '--port', String(port)]
    const started = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    child = started
    errors = ''
    started.stderr.on('data', (text: Buffer) => { errors += text.toString() })
    const [line] = await Promise.race([once(started.stdout, 'data'), once(started, 'exit')]) as [unknown]
    const listening = /^LISTENING (\d+)\n$/.exec(String(line))?.[1]
    if (listening === undefined) throw new Error(`The event store did not start: ${errors}`)
    port = Number(listening)
  }

  async function kill () {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  t.teardown(kill)
  await start()
  const running = () => {
    if (child === undefined) throw new Error('Never started')
    return child
  }
  return {
    start,
    kill,
    process: running,
    get port () { return port },
    async exited () {
      if (running().exitCode === null && running().signalCode === null) await once(running(), 'exit')
      return running().exitCode
    }
  }
}
