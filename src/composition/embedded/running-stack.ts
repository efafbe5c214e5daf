// Which stack runs on a DATA_DIR now, for those who only look: nothing is started, acquired or made.
import { existsSync, realpathSync } from 'node:fs'
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

export async function runningStack (dataDir: string): Promise<Found> {
  if (!existsSync(dataDir)) return {}
  const path = realpathSync(dataDir)
  const { heldBy, number } = await liveHolder(path)
  const cluster = findCluster(path)
  if (!heldBy) return { cluster }
  const run = heldBy.role === 'start' && !heldBy.isElsewhere ? readRunFile(path, number) : undefined
  const where = heldBy.isElsewhere ? 'in another container' : `pid ${heldBy.pid}`
  return { run, cluster, heldBy: `\`${heldBy.command}\` (${where})` }
}
