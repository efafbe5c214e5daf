// Restores a backup into an empty DATA_DIR, all or nothing.
import { once } from 'node:events'
import {
  chownSync, copyFileSync, createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync,
  writeFileSync
} from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Unpack } from 'tar'
import { aboutFile, smallFolder, sync, type About } from './back-up.js'
import { provideBinaries } from './binaries.js'
import { checkVersion, removal } from './cluster.js'
import { errorCode, prepareDataDir, readJsonObject, unfinishedNote } from './data-dir.js'
import { acquireLock, DataDirInUseError } from './lock.js'
import { locate, readPointer, type Account, type Place } from './place.js'

interface RestoreRequest {
  /** Empty or absent. */
  dataDir: string
  file: string
  /** Named in the error of another process that is refused, such as `ringledger restore`. */
  command: string
  log (line: string): void
  /** Bytes read of the file. */
  onProgress (done: number, total: number): void
  signal: AbortSignal
}

/** @throws when DATA_DIR is not empty, or the file is damaged or not ours; DATA_DIR is then as before */
export async function restore (request: RestoreRequest) {
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

async function restoreInto (dataDir: string, request: RestoreRequest) {
  refuseUsed(dataDir)
  emptyAgain(dataDir) // leftovers of a killed restore
  const note = join(dataDir, unfinishedNote)
  writeFileSync(note, `${resolve(request.file)}\n`, { mode: 0o600, flush: true })
  try {
    const place = locate(dataDir)
    const draft = `${place.cluster}.draft-restored`
    mkdirSync(draft, { mode: 0o700 })
    await extract(request, draft)
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
 * The caller removes the note last: while it exists nothing starts, and another restore begins anew. Copies the small
 * files, since a cluster that root keeps elsewhere may be on another file system.
 */
function moveIn ({ dataDir, cluster, account }: Place, draft: string, files: readonly string[]): void {
  for (const name of files) copyFileSync(join(draft, smallFolder, name), join(dataDir, name))
  rmSync(join(draft, smallFolder), { recursive: true })
  own(draft, account)
  renameSync(draft, cluster)
  for (const path of [...files.map((name) => join(dataDir, name)), join(cluster, '..'), dataDir]) sync(path)
}

/** Gives a folder and its content to Postgres' account, and flushes it to disk. */
function own (path: string, account: Account | undefined): void {
  if (statSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name), account)
  if (account) chownSync(path, account.uid, account.gid)
  sync(path)
}

/** Locks of this process and of earlier ones are no data. */
const isLock = (name: string) => /^lock[.-]/.test(name)

/** @throws when DATA_DIR is not empty, unless an interrupted restore left it so */
function refuseUsed (dataDir: string): void {
  if (existsSync(join(dataDir, unfinishedNote))) return
  const found = readdirSync(dataDir).filter((name) => !isLock(name))
  if (found.length === 0) return
  throw new Error(`DATA_DIR ${dataDir} is not empty (${found.slice(0, 3).join(', ')}${found.length > 3 ? ', …' : ''}): ` +
    'a backup is restored into an empty one. Set DATA_DIR to another directory, or move this one away.')
}

/** If a restore began to fill DATA_DIR, removes all but the locks, and the place that its pointer names. */
function emptyAgain (dataDir: string): void {
  if (!existsSync(join(dataDir, unfinishedNote))) return
  const outside = readPointer(dataDir)
  if (outside !== undefined) rmSync(outside, removal)
  const names = readdirSync(dataDir).filter((name) => !isLock(name) && name !== unfinishedNote)
  for (const name of names) rmSync(join(dataDir, name), removal)
  rmSync(join(dataDir, unfinishedNote)) // last
}

/**
 * Unpacks into an empty folder. The checksum at the end covers the whole file.
 * @throws when the file is damaged, truncated, or no tar
 */
async function extract ({ file, onProgress, signal }: RestoreRequest, into: string): Promise<void> {
  const total = statSync(file).size
  let done = 0
  const read = createReadStream(file)
  read.on('data', (chunk) => onProgress(done += chunk.length, total))
  const unpack = new Unpack({
    cwd: into,
    strict: true,
    preserveOwner: false,
    filter: (_path, entry) => 'type' in entry && ['File', 'OldFile', 'Directory'].includes(entry.type)
  })
  const unpacked = once(unpack, 'close')
  let refused: unknown
  unpacked.catch((error: unknown) => { refused = error }) // handled here or below
  try {
    await pipeline(read, createGunzip(), async (plain: AsyncIterable<Buffer>) => {
      for await (const chunk of plain) {
        if (!unpack.write(chunk)) await Promise.race([once(unpack, 'drain'), unpacked])
      }
    }, { signal })
    unpack.end()
    await unpacked
  } catch (error) {
    signal.throwIfAborted()
    const cause = refused ?? error // a stream that is left early reports an abort
    const code = errorCode(cause)
    if (!/^(Z_|TAR_)/.test(code)) throw cause
    const reason = cause instanceof Error ? cause.message : code
    throw new Error(`${resolve(file)} is damaged or cut off (${reason}): take another backup, or copy it again.`, { cause })
  }
}

/** Restricts file names to DATA_DIR itself. @throws when it is not our backup, or from a later release */
function readAbout (folder: string, file: string): About {
  const about = readJsonObject(join(folder, smallFolder, aboutFile)) ?? {}
  const files = Array.isArray(about.files) ? about.files.map(String) : []
  const areNames = files.length > 0 && files.every((name) => /^[a-z][a-z.-]*$/.test(name))
  if (!areNames || !existsSync(join(folder, 'backup_label'))) throw new Error(`${resolve(file)} is no backup of \`ringledger backup\`.`)
  if (about.format !== 1) throw new Error(`${resolve(file)} was made by a later release: restore it with that one.`)
  return { format: 1, postgres: String(about.postgres), made_at: String(about.made_at), files }
}
