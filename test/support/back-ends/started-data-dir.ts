// A DATA_DIR on which `ringledger start` has run: the run of the tests makes one, and tests get copies.
import { execFile } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findCluster } from '@ringledger/embedded-postgres/place'
import { listeningUrl } from '../processes/role-log.js'
import { dataDir, ringledger } from '../ringledger.js'
import type { Teardown } from '../teardown.js'
import { startedOnce } from './back-ends.js'

/** With the example catalogue. Half of the work of a first start is done: the cluster, the tables and the import. */
export async function startedDataDir (t: Teardown): Promise<string> {
  const folder = dataDir(t)
  await promisify(execFile)('cp', ['-a', `${await startedOnce()}/.`, folder]) // Postgres' account stays the owner
  return folder
}

/** What the copies are made of. */
export async function makeStartedDataDir (t: Teardown): Promise<string> {
  const folder = dataDir(t)
  const service = ringledger(t, ['start'], { DATA_DIR: folder, PORT: '0', LOG_LEVEL: 'warn' })
  await service.says(listeningUrl)
  service.signal('SIGTERM')
  await service.ended
  // Of shared memory nothing is left when a test is killed with its Postgres: it is in files of the cluster.
  appendFileSync(join(findCluster(folder) ?? folder, 'postgresql.conf'), "dynamic_shared_memory_type = 'mmap'\n")
  return folder
}
