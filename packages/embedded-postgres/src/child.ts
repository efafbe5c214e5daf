// Starts a Node process in its own process group. It ends when its stdin closes, so even when this process is killed.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { errorCode } from './data-dir.js'

const LOG_LIMIT_BYTES = 10 * 1024 * 1024

export interface ChildRequest {
  /** `file:` URL of the module to run. */
  module: URL
  args: string[]
  env?: NodeJS.ProcessEnv
  /** The child's stderr is appended to it. */
  logFile: string
}

export type Child = ReturnType<typeof startChild>

/** Starts the child, which does not keep this process alive. */
export function startChild (request: ChildRequest) {
  const { child, logged } = spawnDetached(request)
  child.once('error', () => {}) // the spawn failed: the pid is missing
  const { pid, stdin, stdout } = child
  if (pid === undefined || stdin === null || stdout === null) {
    throw new Error(`${fileURLToPath(request.module)} could not be started: no process could be made`)
  }
  const lines = createInterface(stdout)
  let over = false
  const ended = new Promise<string>((resolve) => child.once('exit', (code, signal) => {
    over = true
    resolve(signal === null ? `exit status ${code}` : `killed by ${signal}`)
  }))
  stdin.on('error', () => {}) // the child ended first, and `ended` resolves
  setReferenced(child, false)

  return {
    pid,
    stdin,
    /** Resolves when the process has ended, with a text that says how. */
    ended,
    hasEnded: () => over,
    /** The first defined result of `pick` on lines of stdout; rejects when the process ends before. */
    async line<T> (pick: (line: string) => T | undefined): Promise<T> {
      setReferenced(child, true)
      const picked = await firstLine(lines, ended, pick)
      setReferenced(child, false)
      return picked
    },
    /** The end of what it has logged. */
    said: () => endOf(request.logFile, logged),
    /** Closes stdin and waits; kills the child after that many seconds. */
    async stop (seconds: number): Promise<void> {
      if (over) return
      setReferenced(child, true)
      stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
      await ended
      clearTimeout(timer)
    }
  }
}

/** Also returns the size of the log at the spawn. */
function spawnDetached ({ module, args, env, logFile }: ChildRequest): { child: ChildProcess, logged: number } {
  const log = openLog(logFile)
  try {
    const child = spawn(process.execPath, [fileURLToPath(module), ...args], {
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', log],
      env: { ...process.env, ...env }
    })
    return { child, logged: statSync(logFile).size }
  } finally {
    closeSync(log)
  }
}

// Rotates a log that is too long, or that belongs to another user.
function openLog (path: string): number {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_LIMIT_BYTES) renameSync(path, `${path}.1`)
  try {
    return openSync(path, 'a', 0o600)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') throw error
    renameSync(path, `${path}.1`)
    return openSync(path, 'a', 0o600)
  }
}

const mostRead = 64 * 1024

/** Reads a file after this offset, at most its last 64 KiB. */
function endOf (path: string, offset: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const from = Math.max(Math.min(offset, size), size - mostRead)
  const content = Buffer.alloc(size - from)
  if (content.length === 0) return ''
  const file = openSync(path, 'r')
  try {
    return content.toString('utf8', 0, readSync(file, content, 0, content.length, from))
  } finally {
    closeSync(file)
  }
}

async function firstLine<T> (lines: Interface, ended: Promise<string>, pick: (line: string) => T | undefined) {
  return await new Promise<T>((resolve, reject) => {
    lines.on('line', (line) => {
      const picked = pick(line)
      if (picked !== undefined) resolve(picked)
    })
    void ended.then((how) => reject(new Error(how)))
  })
}

function setReferenced (child: ChildProcess, referenced: boolean): void {
  for (const part of [child, child.stdin, child.stdout]) {
    if (!(part === child || part instanceof Socket)) continue
    if (referenced) part.ref()
    else part.unref()
  }
}
