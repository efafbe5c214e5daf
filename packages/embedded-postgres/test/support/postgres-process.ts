// Runs postgres-main as a process of its own and reads what it says; nothing of it is left when the test ends.
import { execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '../../src/process-identity.js'
import { openDirectory, programIn } from './checkout.js'

export interface Opened {
  databaseUrl: string
  pids: Record<string, number>
}

export interface Said {
  log?: string
  opened?: Opened
  lost?: string
  closed?: boolean
  refused?: string
  inUse?: boolean
}

export interface ProcessOptions {
  /** `once`: it closes as soon as it is open. */
  how?: 'stay' | 'once'
  uid?: number
}

export interface PostgresProcess {
  pid: number
  said: Said[]
  /** Its next or earlier message of that kind; rejects when it ends without one. */
  message<K extends keyof Said>(kind: K): Promise<NonNullable<Said[K]>>
  ended: Promise<number | null>
  kill(signal: NodeJS.Signals): void
}

interface Test { teardown (handler: () => Promise<void> | void): void }

/** Makes a DATA_DIR with a cluster once, and answers with copies of it: a first start costs a second each time. */
export async function dataDirs (t: Test, checkout: string): Promise<(t: Test) => string> {
  const original = join(openDirectory(t), 'data')
  await postgresProcess(t, checkout, original, { how: 'once' }).ended
  return (t) => {
    const copy = join(openDirectory(t), 'data')
    execFileSync('cp', ['-a', original, copy])
    return copy
  }
}

/** Starts `postgres-main` of that checkout on that DATA_DIR, in a process group of its own. */
export function postgresProcess (
  t: Test, checkout: string, dataDir: string, { how = 'stay', uid }: ProcessOptions = {}
): PostgresProcess {
  const main = programIn(checkout, 'postgres-main')
  const child = spawn('env', [...bareNode(), main, dataDir, how], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid })
  })
  const pid = child.pid ?? 0
  const said: Said[] = []
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => said.push(JSON.parse(line)))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
    const opened = said.find((message) => message.opened)?.opened
    for (const own of Object.values(opened?.pids ?? {})) await gone(own)
  })
  const message = messagesOf(lines, said, ended)
  return { pid, said, ended, message, kill: (signal) => void process.kill(-pid, signal) }
}

function messagesOf (lines: Interface, said: readonly Said[], ended: Promise<number | null>): PostgresProcess['message'] {
  return (kind) => new Promise((resolve, reject) => {
    const look = (): void => {
      const found = said.find((message) => message[kind] !== undefined)?.[kind]
      if (found !== undefined) resolve(found)
    }
    look()
    lines.on('line', look)
    void ended.then((code) => reject(new Error(`ended (${code}) without saying ${kind}: ${JSON.stringify(said)}`)))
  })
}

/** Runs so many processes that lock these directories at the same instants: for each process, which ones it got. */
export async function locksOf (
  t: Test, checkout: string, directories: string[], processes: number
): Promise<boolean[][]> {
  const begin = Date.now() + 1_000
  const main = programIn(checkout, 'acquire-main')
  return await Promise.all(Array.from({ length: processes }, async () => {
    const args = [...bareNode(), main, String(begin), ...directories]
    const child = spawn('env', args, { stdio: ['pipe', 'pipe', 'inherit'] })
    t.teardown(() => void child.stdin.end())
    for await (const line of createInterface(child.stdout)) return JSON.parse(line)
    throw new Error('a process ended without saying what it got')
  }))
}

// The test runner adds loaders to the environment of every node process that it sees being spawned. They take longer
// than Postgres.
function bareNode (): string[] {
  return ['-i', `PATH=${process.env.PATH}`, process.execPath]
}

/** Settles when there is no such process; a pid that is not given counts as one that is gone. Rejects after 15 s. */
export async function gone (pid: number | undefined): Promise<void> {
  const deadline = Date.now() + 15_000
  while (pid !== undefined && identify(pid) !== undefined) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still there`)
    await delay(20)
  }
}
