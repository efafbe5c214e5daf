// Finds the stack that runs on a DATA_DIR, through run.json in it. Read-only: starts, locks and creates nothing.
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lookAtDataDir, readJsonObject, writeJsonObject } from '@ringledger/embedded-postgres/data-dir'
import { liveHolder } from '@ringledger/embedded-postgres/lock'
import { findCluster } from '@ringledger/embedded-postgres/place'

export interface Found {
  /** From a `start` that has published its stack. */
  run?: RunFile | undefined
  /** The command that holds DATA_DIR, for messages. */
  heldBy?: string
  /** The data directory of the embedded Postgres, once it exists. */
  cluster?: string | undefined
}

/** A command never creates a stack: in the wrong folder it would show, or change, an empty one. */
export class NothingRuns extends Error {
  override readonly name = 'NothingRuns'
  constructor (dataDir: string) {
    super(`nothing runs here: DATA_DIR ${resolve(dataDir)} holds no data. ` +
      'Set DATA_DIR to the one that `ringledger start` uses, or run `ringledger start` first.')
  }
}

/** @throws NothingRuns when there is no cluster, and no process creates one */
export async function assertHoldsData (dataDir: string): Promise<void> {
  const { heldBy, cluster } = await runningStack(dataDir)
  if (heldBy === undefined && cluster === undefined) throw new NothingRuns(dataDir)
}

/** @throws DataDirUnusable */
export async function runningStack (dataDir: string): Promise<Found> {
  const path = lookAtDataDir(dataDir)
  if (path === undefined) return {}
  const { heldBy, number } = await liveHolder(path)
  const cluster = findCluster(path)
  if (!heldBy) return { cluster }
  const run = heldBy.role === 'start' && !heldBy.isElsewhere ? readRunFile(path, number) : undefined
  const where = heldBy.isElsewhere ? 'in another container' : `pid ${heldBy.pid}`
  return { run, cluster, heldBy: `\`${heldBy.command}\` (${where})` }
}

/** What a running `start` publishes for other commands; it may add further keys. */
export interface RunFile {
  /** Number of the lock that the `start` holds. */
  lock: number
  databaseUrl: string
  eventStoreUrl: string
  pids: Record<string, number>
}

/** Publishes a running stack: mode 0600, written atomically. */
export function writeRunFile (dataDir: string, run: RunFile & Record<string, unknown>): void {
  writeJsonObject(runPath(dataDir), run)
}

/** The stack that this holder of the lock has published; undefined before that. */
export function readRunFile (dataDir: string, lock: number): RunFile | undefined {
  const run = readJsonObject(runPath(dataDir)) as RunFile | undefined // only the holder of that lock writes it
  return run?.lock === lock ? run : undefined
}

export const removeRunFile = (dataDir: string) => rmSync(runPath(dataDir), { force: true })

const runPath = (dataDir: string) => join(dataDir, 'run.json')
