// Runs stack-main as a process of its own and reads what it says; nothing of it is left when the test ends.
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { identify } from '@ringledger/embedded-postgres/process-identity'

export interface Opened {
  databaseUrl: string
  eventStoreUrl: string
  joined: boolean
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

export interface StackOptions {
  role?: 'start' | 'command'
  how?: 'stay' | 'once'
  /** Real ones are started for what is not given; undefined: the event store is a made-up URL. */
  env?: Record<string, string | undefined>
}

export interface StackProcess {
  pid: number
  said: Said[]
  /** Its next or earlier message of that kind; rejects when it ends without one. */
  message<K extends keyof Said>(kind: K): Promise<NonNullable<Said[K]>>
  ended: Promise<number | null>
  kill(signal: NodeJS.Signals): void
}

const main = fileURLToPath(new URL('./stack-main.js', import.meta.url))

interface Test { teardown (handler: () => Promise<void> | void): void }

/** A directory that everybody may enter, removed when the test ends. */
export function openDirectory (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringledger-'))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Makes a DATA_DIR with a cluster once, and answers with copies of it: a first start costs a second each time. */
export async function dataDirs (t: Test): Promise<(t: Test) => string> {
  const original = join(openDirectory(t), 'data')
  await startStack(t, original, { how: 'once' }).ended
  return (t) => {
    const copy = join(openDirectory(t), 'data')
    execFileSync('cp', ['-a', original, copy])
    return copy
  }
}

/** Starts `stack-main` on that DATA_DIR, in a process group of its own. */
export function startStack (t: Test, dataDir: string, options: StackOptions = {}): StackProcess {
  const { role = 'start', how = 'stay', env = { STACK_EVENT_STORE_URL: 'esdb://127.0.0.1:1' } } = options
  const child = spawn('env', [...bareNode(env), main, dataDir, role, how], {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit']
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
    if (opened?.joined === false) for (const own of Object.values(opened.pids)) await gone(own)
  })
  return {
    pid,
    said,
    ended,
    kill: (signal) => void process.kill(-pid, signal),
    message: (kind) => new Promise((resolve, reject) => {
      const look = (): void => {
        const found = said.find((message) => message[kind] !== undefined)?.[kind]
        if (found !== undefined) resolve(found)
      }
      look()
      lines.on('line', look)
      void ended.then((code) => reject(new Error(`ended (${code}) without saying ${kind}: ${JSON.stringify(said)}`)))
    })
  }
}

// The test runner adds loaders to the environment of node processes that it spawns; they are slower than Postgres.
function bareNode (variables: Record<string, string | undefined> = {}): string[] {
  const kept = Object.entries({ PATH: process.env.PATH, ...variables }).filter(([, value]) => value !== undefined)
  return ['-i', ...kept.map(([name, value]) => `${name}=${value}`), process.execPath]
}

/** Settles when there is no such process; a pid that is not given counts as one that is gone. Rejects after 15 s. */
export async function gone (pid: number | undefined): Promise<void> {
  const deadline = Date.now() + 15_000
  while (pid !== undefined && identify(pid) !== undefined) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still there`)
    await delay(20)
  }
}
