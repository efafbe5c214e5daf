// A DATA_DIR on which `ringledger start` has run: the run of the tests makes one, and tests get copies.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
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
  return folder
}
