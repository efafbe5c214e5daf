// Reads what a running Postgres writes to its cluster directory, and stops it from outside.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { program } from './binaries.js'
import { fromPs, identify } from './lock.js'
import type { Place } from './place.js'

interface Stage {
  signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'
  seconds: number
}

// Postgres calls the first two fast and immediate shutdown.
const STAGES: readonly Stage[] = [
  { signal: 'SIGINT', seconds: 20 },
  { signal: 'SIGQUIT', seconds: 5 },
  { signal: 'SIGKILL', seconds: 5 }
]

/**
 * Reads postmaster.pid: the pid, and `starting`, `ready` or `stopping`; undefined without the file. The process need
 * not exist.
 */
export function readPostmaster (cluster: string) {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
    return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '' }
  } catch {
    return undefined
  }
}

/** Whether this pid is a live Postgres process of this cluster, and not another process that reuses the pid. */
function belongsTo (cluster: string, pid: number): boolean {
  if (identify(pid) === undefined) return false
  if (process.platform === 'win32') return true
  if (process.platform !== 'linux') return fromPs('command=', pid).includes(cluster)
  try {
    // Postgres changes its working directory to the cluster.
    const isThere = readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
    return isThere && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres')
  } catch {
    return false
  }
}

/** The live processes of a cluster; empty unless the system lists them (Linux). */
export function processesOf (cluster: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc').map(Number).filter((pid) => pid > 0 && belongsTo(cluster, pid))
}

/** Stops Postgres with a fast shutdown, then with harder ones if it does not end in time. Returns when it has ended. */
export async function stopPostmaster (
  pid: number, hasEnded: () => boolean, cluster: string, binaries: string, stages: readonly Stage[] = STAGES
): Promise<void> {
  for (const { signal, seconds } of stages) {
    if (hasEnded()) return
    send(pid, signal, cluster, binaries)
    if (await until(hasEnded, seconds)) return
  }
  throw stillThere(cluster, [pid])
}

const stillThere = (cluster: string, pids: readonly number[]) =>
  new Error(`Postgres (pid ${pids.join(', ')}) in ${cluster} does not end, not even when killed. End it as its user or as ` +
    'root; where its disk does not answer, mend that or restart the machine.')

/** Returns when no Postgres runs on the cluster, whichever process started it. */
export async function endPostgres ({ cluster }: Place, binaries: string, log: (line: string) => void): Promise<void> {
  const postmaster = readPostmaster(cluster)
  if (postmaster !== undefined && belongsTo(cluster, postmaster.pid)) {
    log(`Stopping Postgres (pid ${postmaster.pid}), whose supervisor is gone`)
    await stopPostmaster(postmaster.pid, () => !belongsTo(cluster, postmaster.pid), cluster, binaries)
  }
  if (!await until(() => killAll(processesOf(cluster)) === 0, 10)) throw stillThere(cluster, processesOf(cluster))
  // Otherwise, if another process has the pid now, Postgres would take that for a Postgres and not start.
  if (process.platform === 'linux') rmSync(join(cluster, 'postmaster.pid'), { force: true })
}

/** Polls. @returns whether the condition came true within that many seconds */
export async function until (condition: () => boolean, seconds: number): Promise<boolean> {
  const deadline = Date.now() + seconds * 1000
  while (!condition()) {
    if (Date.now() >= deadline) return false
    await delay(10)
  }
  return true
}

// Sessions of a killed postmaster run to the end of their query, and block a new postmaster until then.
function killAll (pids: number[]): number {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended already
    }
  }
  return pids.length
}

function send (pid: number, signal: Stage['signal'], cluster: string, binaries: string): void {
  try {
    // Windows has no such signals: pg_ctl uses another way.
    if (process.platform === 'win32' && signal !== 'SIGKILL') {
      const mode = signal === 'SIGINT' ? 'fast' : 'immediate'
      execFileSync(program(binaries, 'pg_ctl'), ['stop', '-W', '-D', cluster, '-m', mode], { stdio: 'ignore' })
    } else process.kill(pid, signal)
  } catch {
    // It has ended already, and `hasEnded` holds.
  }
}
