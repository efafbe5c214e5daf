// Ends what an earlier run has left on a cluster: a supervisor, an orphaned Postgres, a stale postmaster.pid.
import { rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readJsonObject, writeJsonObject, isObject } from '../json-file.js'
import type { Place } from '../cluster/paths.js'
import { belongsTo, processesOf, readPostmaster, stopPostmaster, until } from './postmaster.js'
import { isPresent } from '../presence.js'
import { isAlive, ownIdentity, type ProcessIdentity } from '../process-identity.js'

/** A Postgres is stopped by force after that. */
const waitSeconds = 30

/** Notes the process that supervises this cluster from now on, its starter, and its socket in DATA_DIR. */
export function noteSupervisor (place: Place, supervisor: ProcessIdentity, socket: string): void {
  writeJsonObject(notePath(place), { supervisor, starter: ownIdentity(), socket })
}

/** Returns when nothing runs on the cluster. @throws when another DATA_DIR, such as a copy of this one, uses it */
export async function endPredecessor (place: Place, binaries: string, log: (line: string) => void): Promise<void> {
  await endSupervisor(place, log)
  await endPostgres(place, binaries, log)
}

/** Returns when no Postgres runs on the cluster; it does not matter which process has started it. */
export async function endPostgres ({ cluster }: Place, binaries: string, log: (line: string) => void): Promise<void> {
  const postmaster = readPostmaster(cluster)
  if (postmaster !== undefined && belongsTo(cluster, postmaster.pid)) {
    log(`Stopping Postgres (pid ${postmaster.pid}), whose supervisor is gone`)
    await stopPostmaster(postmaster.pid, () => !belongsTo(cluster, postmaster.pid), cluster, binaries)
  }
  await until(() => killAll(processesOf(cluster)) === 0, 10)
  // If the pid belonged to another process by now, Postgres would take that for a Postgres and not start.
  if (process.platform === 'linux') rmSync(join(cluster, 'postmaster.pid'), { force: true })
}

async function endSupervisor (place: Place, log: (line: string) => void): Promise<void> {
  const note = readJsonObject(notePath(place))
  const supervisor = identityFrom(note?.supervisor)
  if (supervisor === undefined) return
  if (!isAlive(supervisor)) return await awaitElsewhere(place, note?.socket, log)
  const starter = identityFrom(note?.starter)
  if (starter !== undefined && starter.pid !== process.pid && isAlive(starter)) {
    throw new Error(`The cluster in ${place.cluster} is in use by pid ${starter.pid}, ` +
      `which has another DATA_DIR than ${place.dataDir}. ` +
      'One of the two is a copy of the other: give it a cluster of its own, or stop that process.')
  }
  log('Waiting for the Postgres of an earlier run to stop')
  if (!await until(() => !isAlive(supervisor), waitSeconds)) process.kill(supervisor.pid, 'SIGKILL')
}

/** The supervisor of another container: its pid says nothing here, and its Postgres cannot be stopped from here. */
async function awaitElsewhere (place: Place, noted: unknown, log: (line: string) => void): Promise<void> {
  if (typeof noted !== 'string') return
  const { dataDir, cluster } = place
  const socket = basename(noted)
  const deadline = Date.now() + waitSeconds * 1000
  for (let isLogged = false; await isPresent(dataDir, socket); isLogged = true) {
    if (!isLogged) log('Waiting for the Postgres of another container to stop')
    if (Date.now() > deadline) {
      throw new Error(`The Postgres of another container still runs on ${cluster}: stop that container.`)
    }
    await delay(100)
  }
  rmSync(join(dataDir, socket), { force: true }) // a supervisor that was killed leaves it
}

// Sessions of a postmaster that was killed work on to the end of their query, and until then no new one can start.
function killAll (pids: number[]): number {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended meanwhile
    }
  }
  return pids.length
}

function identityFrom (value: unknown): ProcessIdentity | undefined {
  if (!isObject(value)) return undefined
  const { pid, started } = value
  return typeof pid === 'number' && typeof started === 'string' ? { pid, started } : undefined
}

function notePath ({ home }: Place): string {
  return join(home, 'supervisor.json')
}
