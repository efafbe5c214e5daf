// Whether there is room on the disk of Postgres, for readiness and for the log of the service.
import { statfs } from 'node:fs/promises'
import type { Pool } from 'pg'
import { saysDiskFull, writeProbe } from '../postgres/problems.js'
import { pause } from '../timing.js'

export interface Disk {
  /** For operators. */
  name: string
  /** Where it is mounted, or a directory on it; absent on another machine. */
  path?: string | undefined
}

export interface DiskMonitor {
  /** @throws when the disk is full */
  assertRoom (): Promise<void>
  /** Looks again and again, so that a full disk is told though nobody asks. @returns what ends it */
  keepLooking (): () => Promise<void>
}

export interface DiskMonitorOptions {
  pool: Pool
  disk: Disk
  log: { info (details: object, message: string): void, error (details: object, message: string): void }
  /** Between two looks, in milliseconds; a full disk is looked at whenever it is asked for. */
  everyMs?: number
}

const usualEveryMs = 10_000

/** Postgres makes its write-ahead log in pieces of this size, and stops altogether when there is no room for one. */
const leastBytes = 16 * 2 ** 20
/** Nor can it make one where the file system has no room for further files. */
const leastFiles = 16

/** The disk that Postgres writes to, and the embedded event store with it. `dataIn` is the embedded Postgres's. */
export function diskOf (dataIn: string | undefined, eventStoreUrl: string | undefined): Disk {
  const hasLog = eventStoreUrl === undefined
  if (dataIn === undefined) return { name: `of Postgres (DATABASE_URL${hasLog ? ', with the event log' : ''})` }
  return { name: `of DATA_DIR (${dataIn}, with Postgres${hasLog ? ' and the event log' : ''})`, path: dataIn }
}

/** Tells once that the disk is full, and once that there is room again. */
export function openDiskMonitor ({ pool, disk, log, everyMs = usualEveryMs }: DiskMonitorOptions): DiskMonitor {
  let lookedAt = -Infinity
  let problem: Error | undefined
  return { assertRoom, keepLooking }

  async function assertRoom (): Promise<void> {
    if (problem || performance.now() - lookedAt > everyMs) await look()
    if (problem) throw problem
  }

  async function look (): Promise<void> {
    lookedAt = performance.now()
    note(await findProblem(pool, disk))
  }

  function note (found: Error | undefined): void {
    if (found && !problem) log.error({ err: found }, found.message)
    if (!found && problem) log.info({}, `there is room again on the disk ${disk.name}`)
    problem = found
  }

  function keepLooking (): () => Promise<void> {
    const stopping = new AbortController()
    const looking = (async () => {
      while (!stopping.signal.aborted) {
        await pause(everyMs, stopping.signal)
        if (!stopping.signal.aborted) await look()
      }
    })()
    return async () => {
      stopping.abort()
      await looking
    }
  }
}

/** Nothing when Postgres is away: other checks tell that. */
async function findProblem (pool: Pool, disk: Disk): Promise<Error | undefined> {
  try {
    if (disk.path === undefined) await writeProbe(pool)
    else if (!await hasRoom(disk.path)) return full(disk)
    return undefined
  } catch (cause) {
    return saysDiskFull(cause) ? full(disk, cause) : undefined
  }
}

/** Some file systems count no files: they say that there are none at all. */
async function hasRoom (path: string): Promise<boolean> {
  const { bavail, bsize, files, ffree } = await statfs(path)
  return bavail * bsize >= leastBytes && (files === 0 || ffree >= leastFiles)
}

const full = ({ name }: Disk, cause?: unknown) =>
  new Error(`the disk ${name} is full: nothing can be written until there is room`, { cause })
