// Which stack runs on a DATA_DIR now, for those who only look: nothing is started, acquired or made.
import { resolve } from 'node:path'
import { lookAtDataDir } from '@ringledger/embedded-postgres/data-dir'
import { liveHolder } from '@ringledger/embedded-postgres/lock'
import { findCluster } from '@ringledger/embedded-postgres/place'
import { readRunFile, type RunFile } from './run-file.js'

export interface Found {
  /** Of a `start` that has published its stack. */
  run?: RunFile | undefined
  /** The command that holds DATA_DIR, in words. */
  heldBy?: string
  /** Where the embedded Postgres has its data, once it has any. */
  cluster?: string | undefined
}

/** A command that needs a stack makes none: in the wrong folder it would show, or change, an empty one. */
export class NothingRuns extends Error {
  override readonly name = 'NothingRuns'
  constructor (dataDir: string) {
    super(`nothing runs here: DATA_DIR ${resolve(dataDir)} holds no data. ` +
      'Set DATA_DIR to the one that `ringledger start` uses, or run `ringledger start` first.')
  }
}

/** @throws NothingRuns where there is no cluster, and nobody makes one */
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
