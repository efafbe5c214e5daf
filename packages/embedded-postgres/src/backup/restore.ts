// Restores a backup into a DATA_DIR that holds nothing: all of it, or nothing.
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { provideBinaries } from '../cluster/binaries.js'
import { checkVersion } from '../cluster/cluster.js'
import { locate, type Place } from '../cluster/paths.js'
import { prepareDataDir } from '../data-dir.js'
import { acquireLock, DataDirInUseError } from '../lock.js'
import { extract, readAbout } from './extract.js'
import { own, sync } from './own.js'
import { smallFolder } from './small-files.js'
import { emptyAgain, refuseUsed, unfinishedNote } from './unused.js'

export interface RestoreRequest {
  /** Empty or absent. */
  dataDir: string
  file: string
  /** For the error of another process that is refused, such as `ringledger restore`. */
  command: string
  log (line: string): void
  /** Bytes of the file that are read. */
  onProgress (done: number, total: number): void
  signal: AbortSignal
}

export interface Restored {
  dataDir: string
  madeAt: string
  /** Such as `18.4`. */
  postgres: string
  /** Of DATA_DIR, such as `postgres-password`. */
  files: string[]
}

/** @throws when DATA_DIR holds something, or the file is damaged or none of ours; DATA_DIR is then as it was */
export async function restore (request: RestoreRequest): Promise<Restored> {
  const wasThere = existsSync(request.dataDir)
  if (!statSync(request.file, { throwIfNoEntry: false })?.isFile()) {
    throw new Error(`${resolve(request.file)} is not there, or is no file.`)
  }
  const dataDir = prepareDataDir(request.dataDir)
  const { lock, heldBy } = await acquireLock(dataDir, 'command', request.command)
  if (heldBy) throw new DataDirInUseError(dataDir, heldBy)
  let isWhole = false
  try {
    const restored = await restoreInto(dataDir, request)
    isWhole = true
    return restored
  } finally {
    lock.release()
    if (!isWhole && !wasThere) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function restoreInto (dataDir: string, request: RestoreRequest): Promise<Restored> {
  refuseUsed(dataDir)
  emptyAgain(dataDir) // of a restore that was killed
  const note = join(dataDir, unfinishedNote)
  writeFileSync(note, `${resolve(request.file)}\n`, { mode: 0o600, flush: true })
  try {
    const place = locate(dataDir)
    const draft = `${place.cluster}.draft-restored`
    mkdirSync(draft, { mode: 0o700 })
    await extract({ ...request, into: draft })
    const about = readAbout(draft, request.file)
    checkVersion(draft, provideBinaries(place, request.log).version)
    moveIn(place, draft, about.files)
    rmSync(note)
    return { dataDir, madeAt: about.made_at, postgres: about.postgres, files: about.files }
  } catch (error) {
    emptyAgain(dataDir)
    throw error
  }
}

/**
 * The note goes last: as long as it is there nothing starts, and another restore begins anew. The small files are
 * copied, since a cluster that root keeps elsewhere may lie on another file system.
 */
function moveIn ({ dataDir, cluster, account }: Place, draft: string, files: readonly string[]): void {
  for (const name of files) copyFileSync(join(draft, smallFolder, name), join(dataDir, name))
  rmSync(join(draft, smallFolder), { recursive: true })
  own(draft, account)
  renameSync(draft, cluster)
  for (const path of [...files.map((name) => join(dataDir, name)), join(cluster, '..'), dataDir]) sync(path)
}
