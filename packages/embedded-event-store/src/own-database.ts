// An embedded Postgres for the command line, in a directory that this process holds alone.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeDataDir, startPostgres } from '@ringledger/embedded-postgres'
import { explained, prepareDataDir } from '@ringledger/embedded-postgres/data-dir'
import { acquireLock, DataDirInUseError } from '@ringledger/embedded-postgres/lock'

export interface OwnDatabase {
  url: string
  /** Settles when Postgres ended and was not closed. */
  lost: Promise<Error>
  close: () => Promise<void>
}

/**
 * For a server on `port`: in `path`, which is made when it is missing, or else in a temporary directory, which `close`
 * removes.
 */
export async function openOwnDatabase (
  path: string | undefined, port: number, log: (line: string) => void
): Promise<OwnDatabase> {
  const dataDir = prepareDataDir(path ?? mkdtempSync(join(tmpdir(), 'event-store-')))
  const { lock, heldBy } = await acquireLock(dataDir, 'start', 'embedded-event-store')
  if (heldBy !== undefined) throw new DataDirInUseError(dataDir, heldBy)
  const leave = () => path === undefined ? removeDataDir(dataDir) : lock.release()
  try {
    const { url, lost, close } = await startPostgres({ dir: dataDir, otherPorts: [port], log })
    return { url, lost, close: () => close().finally(leave) }
  } catch (error) {
    leave()
    throw explained(dataDir, error)
  }
}
