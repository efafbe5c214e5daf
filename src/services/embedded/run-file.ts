// run.json in DATA_DIR, through which commands find a running `start`.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, readJsonObject, writeJsonObject } from '@ringledger/embedded-postgres/data-dir'

/** What a running `start` publishes for other commands; it may add further keys. */
export interface RunFile {
  /** The number of the lock that its holder has. */
  lock: number
  databaseUrl: string
  eventStoreUrl: string
  pids: Record<string, number>
}

/** Publishes a running stack, mode 0600, whole or not at all. */
export function writeRunFile (dataDir: string, run: RunFile & Record<string, unknown>): void {
  writeJsonObject(runPath(dataDir), run)
}

/** The published stack of that holder of the directory; undefined while it has not published one. */
export function readRunFile (dataDir: string, lock: number): RunFile | undefined {
  const run = readJsonObject(runPath(dataDir))
  if (run === undefined || run.lock !== lock) return undefined
  const { databaseUrl, eventStoreUrl } = run
  if (typeof databaseUrl !== 'string' || typeof eventStoreUrl !== 'string') return undefined
  const pids = isObject(run.pids) ? run.pids : {}
  const known = Object.entries(pids).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return { lock, databaseUrl, eventStoreUrl, pids: Object.fromEntries(known) }
}

export function removeRunFile (dataDir: string): void {
  rmSync(runPath(dataDir), { force: true })
}

function runPath (dataDir: string): string {
  return join(dataDir, 'run.json')
}
