// Runs the command line as a user does: `node bin/ringledger.js …`, in a process group of its own.
import { spawn, execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, appendFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Socket } from 'node:net'
import { join, delimiter } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../../src/package-root.js'
import { eventually } from './eventually.js'
import { assertClean } from './run/leaks.js'
import { killAll } from '@ringledger/embedded-postgres/testing'
import type { Teardown } from './teardown.js'
import { promisify } from 'node:util'
import { findCluster } from '@ringledger/embedded-postgres/place'
import { startedOnce } from './back-ends/back-ends.js'

export type Environment = Record<string, string>

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Ringledger {
  pid: number
  stdout (): string
  stderr (): string
  /** Awaits what `pick` finds in the output so far; rejects if the process ends or `withinMs` pass first. */
  says<Found> (pick: (stdout: string, stderr: string) => Found | undefined, withinMs?: number): Promise<Found>
  /** Signals the whole process group, as a terminal does. */
  signal (name: NodeJS.Signals): void
  ended: Promise<Ended>
  /** All running processes that it started, directly or not, including itself. */
  processes (): number[]
  gone (): Promise<void>
}

export const bin = join(packageRoot, 'bin/ringledger.js')
export const exampleCatalog = join(packageRoot, 'examples/catalog.json')

/** Commands whose output is a log. */
const logging = ['start', 'api', 'projector', 'worker']

/** An empty directory, removed in `t.teardown`. Start what runs in it afterwards, so that it is stopped before. */
export function dataDir (t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'rl-flow-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
  return folder
}

/**
 * Starts the command line with these variables and no others but PATH and HOME: the test runner adds loaders to the
 * environment of node processes that it sees being spawned. Killed, with all it started, in `t.teardown`.
 */
export function ringledger (t: Teardown, args: readonly string[], env: Environment = {}, program = [bin]): Ringledger {
  const mark = `RINGLEDGER_TEST_RUN=${randomUUID()}`
  const child = spawn('env', ['-i', mark, ...texts(variablesOf(env)), process.execPath, ...program, ...args], {
    detached: true, stdio: ['ignore', 'pipe', 'pipe']
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => { said.stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { said.stderr += text })
  const pid = child.pid ?? 0
  let over: Ended | undefined
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => {
    resolve(over = { code, signal })
  }))
  const signal = (name: NodeJS.Signals) => { if (!over) process.kill(-pid, name) }
  const processes = () => processesWith(mark)
  t.teardown(async () => {
    signal('SIGKILL')
    killAll(processes())
    await ended
    if (logging.includes(args[0] ?? '')) assertClean(`ringledger ${args[0]}`, said.stdout + said.stderr)
  })
  return {
    pid,
    ended,
    signal,
    processes,
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    gone: async () => { await eventually(() => processes().length === 0) },
    says: async (pick, withinMs = 45_000) => {
      const find = () => pick(said.stdout, said.stderr)
      const found = await foundBefore(ended, find, withinMs)
      if (found !== undefined) return found
      const why = over ? `ended with ${over.signal ?? over.code}` : 'did not get there'
      throw new Error(`${args.join(' ')} ${why}:\n${said.stdout}${said.stderr}`)
    }
  }
}

/** As under npm, so that the process ends with its parent if a test is killed before its teardown. */
function variablesOf (env: Environment): Environment {
  const own = {
    npm_lifecycle_event: 'test',
    EMBEDDED_EVENTSTORE_PORT: '0', // tests do not fight over one port
    RINGLEDGER_NO_DOTENV: '1' // nor do they take what a developer has in the checkout
  }
  return { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...own, ...env }
}

const texts = (env: Environment) => Object.entries(env).map(([name, value]) => `${name}=${value}`)

/** Repeats `find` until it returns something, the process has ended, or the time is over. */
async function foundBefore<Found> (
  ended: Promise<unknown>, find: () => Found | undefined, withinMs: number
): Promise<Found | undefined> {
  const deadline = Date.now() + withinMs
  let isOver = false
  for (;;) {
    const wasOver = isOver || Date.now() > deadline
    const found = find()
    if (found !== undefined || wasOver) return found
    const pause = new Promise((resolve) => setTimeout(resolve, 10))
    await Promise.race([ended.then(() => { isOver = true }), pause])
  }
}

export async function run (
  t: Teardown, args: readonly string[], env: Environment = {}
): Promise<Ended & { stdout: string, stderr: string }> {
  const command = ringledger(t, args, env)
  const ended = await command.ended
  return { ...ended, stdout: command.stdout(), stderr: command.stderr() }
}

interface Said { code: number, stdout: string, stderr: string }
let warm: ((args: readonly string[], env: Environment) => Promise<Said>) | undefined

/**
 * Runs a command in a process that ran others before, at a tenth of the cost of `run`: for rules about options, answers
 * and messages. Rules about the end of a process, or signals, need `run`.
 */
export async function runWarm (args: readonly string[], env: Environment = {}): Promise<Said> {
  warm ??= startWarm()
  return await warm(args, variablesOf(env))
}

function startWarm (): NonNullable<typeof warm> {
  const main = fileURLToPath(new URL('./cli/warm-main.js', import.meta.url))
  const child = spawn('env', ['-i', ...texts(variablesOf({})), process.execPath, main], {
    stdio: ['pipe', 'inherit', 'inherit', 'pipe']
  })
  // Answers come on a fourth stream, but Node's types have three.
  const [input, , , output] = child.stdio as unknown as [Socket, null, null, Socket]
  const handles = [child, input, output]
  const answers = createInterface(output)
  let last: Promise<unknown> = Promise.resolve()
  const ended = once(child, 'exit').finally(() => { warm = undefined })
  for (const each of handles) each.unref()
  process.once('disconnect', () => { // after the last file, so the runner counts this child's CPU time, too
    child.ref()
    input.end()
  })
  return async (args, env) => {
    const answer = last.then(async () => {
      for (const each of handles) each.ref() // only a running request keeps this process alive
      input.write(`${JSON.stringify({ args, env })}\n`)
      const line = await Promise.race([once(answers, 'line'), ended])
      for (const each of handles) each.unref()
      return JSON.parse(String(line[0])) as Said
    })
    last = answer.catch(() => {})
    return await answer
  }
}

// Children inherit the variable in any process group; a zombie has none. Only Linux shows it.
function processesWith (mark: string): number[] {
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number) : []
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark)
    } catch {
      return false // it ended in between, or is somebody else's
    }
  })
}

/** Has the example catalogue. The cluster, tables and import exist, which is half of the work of a first start. */
export async function startedDataDir (t: Teardown): Promise<string> {
  const folder = dataDir(t)
  await promisify(execFile)('cp', ['-a', `${await startedOnce()}/.`, folder]) // Postgres' account stays the owner
  return folder
}

export async function makeStartedDataDir (t: Teardown): Promise<string> {
  const folder = dataDir(t)
  const service = ringledger(t, ['start'], { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn' })
  await service.says(listeningUrl)
  service.signal('SIGTERM')
  await service.ended
  // Shared memory in files of the cluster, so that nothing is left if a test is killed with its Postgres.
  appendFileSync(join(findCluster(folder) ?? folder, 'postgresql.conf'), "dynamic_shared_memory_type = 'mmap'\n")
  return folder
}

/**
 * Starts a module as a process, which is killed when the test of `t` ends. Its stdin closes with this process.
 * @param heapMb limit of its heap
 */
export function mainProcess<Said> (
  t: Teardown, module: URL, args: readonly string[], { heapMb }: { heapMb?: number } = {}
) {
  // Without the test runner's environment.
  const flags = heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`]
  const child = spawn('env', ['-i', `PATH=${process.env.PATH}`, process.execPath, ...flags, fileURLToPath(module), ...args], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  const said: Said[] = [] // a line of JSON each
  createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line)))
  const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
    child.once('close', (code, signal) => resolve(signal ?? code)))
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  return { said, ended, signal: (name: NodeJS.Signals) => void child.kill(name) }
}

/** The URL in the output so far; nothing until the service listens. */
export const listeningUrl = (stdout: string): string | undefined => /is listening on ([^\s"]+)/.exec(stdout)?.[1]

/** Why a command ended: the text for people, or the message in the one log line of a role. */
export const reasonIn = (stderr: string): string => stderr.startsWith('{') ? JSON.parse(stderr).msg : stderr

/** The path of the first of these that is on the PATH. */
export function onPath (...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
}
