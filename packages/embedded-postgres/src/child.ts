// Starts a node process in a process group of its own, which ends when its stdin closes: also when this one is killed.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync, renameSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { createInterface, type Interface } from 'node:readline'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { errorCode } from './json-file.js'

const LOG_LIMIT_BYTES = 10 * 1024 * 1024

export interface ChildRequest {
  /** The file: URL of the module that it runs. */
  module: URL
  args: string[]
  env?: NodeJS.ProcessEnv
  /** Receives the child's stderr, appended. */
  logFile: string
}

export interface Child {
  pid: number
  stdin: Writable
  /** Settles when the process has ended, with a text that says how. */
  ended: Promise<string>
  hasEnded(): boolean
  /** The first line on stdout that `pick` does not answer undefined for; rejects when the process ends before it. */
  line<T>(pick: (line: string) => T | undefined): Promise<T>
  /** Closes stdin, waits, and kills when that many seconds were not enough. */
  stop(seconds: number): Promise<void>
}

/** Starts the child. It does not keep this process running. */
export function startChild (request: ChildRequest): Child {
  const child = spawnDetached(request)
  child.once('error', () => {}) // no process could be made: the pid is missing
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
  stdin.on('error', () => {}) // the child ended first, and `ended` settles
  setReferenced(child, false)

  return {
    pid,
    stdin,
    ended,
    hasEnded: () => over,
    async line (pick) {
      setReferenced(child, true)
      const picked = await firstLine(lines, ended, pick)
      setReferenced(child, false)
      return picked
    },
    async stop (seconds) {
      if (over) return
      setReferenced(child, true)
      stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000)
      await ended
      clearTimeout(timer)
    }
  }
}

function spawnDetached ({ module, args, env, logFile }: ChildRequest): ChildProcess {
  const log = openLog(logFile)
  try {
    return spawn(process.execPath, [fileURLToPath(module), ...args], {
      detached: true,
      windowsHide: true,
      stdio: ['pipe', 'pipe', log],
      env: { ...process.env, ...env }
    })
  } finally {
    closeSync(log)
  }
}

// A log that is long, or that another user has written, is renamed, and a new one begins.
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
