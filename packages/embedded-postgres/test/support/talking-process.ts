// A process that tells a test what happens, a JSON object a line, and how to find that it is gone.
import { execFileSync, type ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { identify } from '../../src/lock.js'

/** A place to say what undoes a set-up. */
export interface Teardown { teardown (undo: () => unknown): void }

/** The messages of a process that opens a cluster or a stack. */
export interface SaidOf<Opened> {
  log?: string
  opened?: Opened
  lost?: string
  closed?: boolean
  refused?: string
  inUse?: boolean
}

export interface TalkingProcess<Said> {
  pid: number
  said: Said[]
  /** Its next or earlier message of that kind; rejects when it ends without one. */
  message<K extends keyof Said>(kind: K): Promise<NonNullable<Said[K]>>
  ended: Promise<number | null>
  /** The whole process group, which it leads. */
  kill(signal: NodeJS.Signals): void
}

/** Listens to a child that leads a process group. Killed in `t.teardown`; what `left` names must be gone with it. */
export function listenTo<Said extends object> (
  t: Teardown, child: ChildProcess & { stdout: Readable }, left: (said: Said[]) => Iterable<number>
): TalkingProcess<Said> {
  const pid = child.pid ?? 0
  const said: Said[] = []
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const lines = createInterface(child.stdout)
  lines.on('line', (line) => said.push(JSON.parse(line)))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
    for (const own of left(said)) await gone(own)
  })
  return {
    pid,
    said,
    ended,
    kill: (signal) => void process.kill(-pid, signal),
    message: (kind) => new Promise((resolve, reject) => {
      const look = (): void => {
        const found = said.find((message) => message[kind] !== undefined)?.[kind]
        if (found !== undefined && found !== null) resolve(found)
      }
      look()
      lines.on('line', look)
      void ended.then((code) => reject(
        new Error(`ended (${code}) without saying ${String(kind)}: ${JSON.stringify(said)}`)
      ))
    })
  }
}

/**
 * What to give `env` to run node with these variables and PATH alone: the test runner adds loaders to the environment
 * of node processes that it sees being spawned, and they take longer than Postgres.
 */
export function bareNode (variables: Record<string, string | undefined> = {}): string[] {
  const kept = Object.entries({ PATH: process.env.PATH, ...variables }).filter(([, value]) => value !== undefined)
  return ['-i', ...kept.map(([name, value]) => `${name}=${value}`), process.execPath]
}

/** Settles when there is no such process, or no pid is given. Rejects after a minute. */
export async function gone (pid: number | undefined): Promise<void> {
  const deadline = Date.now() + 60_000
  while (pid !== undefined && identify(pid) !== undefined) {
    if (Date.now() > deadline) throw new Error(`process ${pid} is still there`)
    await delay(20)
  }
}

/** A directory that everybody may enter, removed when the test ends. */
export function openDirectory (t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringledger-'))
  chmodSync(folder, 0o755)
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Lets `make` fill a DATA_DIR once, and answers with copies of it: a first start of Postgres takes a second. */
export async function copiesOf (
  t: Teardown, make: (dataDir: string) => Promise<unknown>
): Promise<(t: Teardown) => string> {
  const original = join(openDirectory(t), 'data')
  await make(original)
  return (t) => {
    const copy = join(openDirectory(t), 'data')
    execFileSync('cp', ['-a', original, copy])
    return copy
  }
}

/** Kills them all. A process that is gone already is no error. */
export function killAll (pids: ReadonlyArray<number | undefined>): void {
  for (const pid of pids) {
    try {
      if (pid !== undefined) process.kill(pid, 'SIGKILL')
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
}
