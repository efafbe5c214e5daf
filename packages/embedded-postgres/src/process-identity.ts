// Tells one process from every other, also after its pid went to another process or the machine was restarted.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A pid, and when its process began: an opaque text, comparable on one machine, or empty where that is unknown. */
export interface ProcessIdentity {
  pid: number
  started: string
}

/** The identity of the live process with this pid; undefined when there is none; a zombie does not count. */
export function identify (pid: number): ProcessIdentity | undefined {
  if (process.platform === 'win32') return isSignalable(pid) ? { pid, started: '' } : undefined
  const started = process.platform === 'linux' ? startOnLinux(pid) : startFromPs(pid)
  return started === undefined ? undefined : { pid, started }
}

/** Whether exactly this process still runs. */
export function isAlive (identity: ProcessIdentity): boolean {
  const now = identify(identity.pid)
  return now !== undefined && now.started === identity.started
}

/** This process. */
export function ownIdentity (): ProcessIdentity {
  return identify(process.pid) ?? { pid: process.pid, started: '' }
}

// Ticks since boot mean nothing without the boot they count from.
function startOnLinux (pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

function startFromPs (pid: number): string | undefined {
  try {
    const args = ['-o', 'stat=,lstart=', '-p', String(pid)]
    const line = execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
    return line === '' || line.startsWith('Z') ? undefined : line.slice(line.indexOf(' ')).trim()
  } catch {
    return undefined
  }
}

function isSignalable (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
