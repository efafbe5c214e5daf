// Writes a backup of a DATA_DIR: the cluster and a few small files as one compressed tar, all or nothing.
import { randomUUID } from 'node:crypto'
import {
  closeSync, createWriteStream, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'
import { Header } from 'tar'
import { errorCode } from './data-dir.js'

interface BackupRequest {
  dataDir: string
  /** URL of the running Postgres. */
  url: string
  /** Path of the backup. */
  file: string
  /** Whether an existing file may be replaced. */
  overwrite: boolean
  /** Further files of DATA_DIR to include; missing ones are skipped. */
  files: readonly string[]
  /** Uncompressed bytes; `total` is an estimate. */
  onProgress (done: number, total: number): void
  signal: AbortSignal
}

/** Fast, and higher levels save little: pages of Postgres hold texts and zeros. */
const compressionLevel = 3

/** @throws when the file exists, cannot be written, or Postgres fails; then no file is left */
export async function backUp (request: BackupRequest) {
  const { url, overwrite, signal } = request
  const file = resolve(request.file)
  if (!overwrite && existsSync(file)) throw isThere(file)
  if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error(`${file} is no regular file: choose another name.`)
  const client = new pg.Client({
    connectionString: `${url}?replication=database`,
    application_name: 'ringledger backup',
    connectionTimeoutMillis: 5_000
  })
  client.on('error', () => {}) // the pending query reports it
  await client.connect()
  const draft = `${file}.${randomUUID()}.part`
  try {
    const { rows: [row] } = await client.query<{ server_version: string }>('SHOW server_version')
    const postgres = row?.server_version ?? ''
    // Opened now and not lazily by the stream, so that the cleanup below always finds it.
    const written = createWriteStream(draft, { fd: openSync(draft, 'wx', 0o600), flush: true })
    const tar = Readable.from(contents(request, client, postgres))
    await pipeline(tar, createGzip({ level: compressionLevel }), written, { signal })
    publish(draft, file, overwrite)
    return { file, bytes: statSync(file).size, postgres }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOSPC') throw new Error(`The disk of ${file} is full: write the backup to another one.`)
    if (!['ENOENT', 'EACCES', 'EROFS', 'ENOTDIR'].includes(code)) throw error
    const mend = 'choose a directory that is there and that you may write.'
    throw new Error(`${file} cannot be written (${code}): ${mend}`, { cause: error })
  } finally {
    rmSync(draft, { force: true })
    await client.end() // after an abort this is immediate, and Postgres stops the backup
  }
}

/**
 * The small files, then an online base backup of Postgres: a tar of the cluster as of the end of the backup. It has
 * `backup_label`, files that may be torn, and the WAL that repairs them. A temporary slot keeps that WAL from being
 * recycled while this connection lives.
 * @throws what Postgres says, for instance that a page is damaged on disk
 */
async function * contents (
  { dataDir, files, onProgress }: BackupRequest, client: pg.Client, postgres: string
): AsyncGenerator<Buffer> {
  let total = 0
  let done = 0
  yield headOf(dataDir, [passwordFile, ...files], { postgres, made_at: new Date().toISOString() })
  const slot = `ringledger_backup_${randomUUID().replaceAll('-', '_')}`
  await client.query(`CREATE_REPLICATION_SLOT ${slot} TEMPORARY PHYSICAL (RESERVE_WAL true)`)
  for await (const chunk of client.query(new BaseBackup((bytes) => { total += bytes })).tar) {
    yield chunk
    onProgress(done += chunk.length, total)
  }
}

/** Gives the complete file its name, which an empty file reserves: a disk may have no hard links. */
function publish (draft: string, file: string, overwrite: boolean): void {
  try {
    if (!overwrite) closeSync(openSync(file, 'wx'))
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? isThere(file) : error
  }
  renameSync(draft, file)
  sync(dirname(file))
}

/** Flushes a file, or the entries of a folder, to disk. */
export function sync (path: string): void {
  if (process.platform === 'win32') return
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

const isThere = (file: string) =>
  new Error(`${file} is there already: choose another name, or replace it with --overwrite.`)

/** Folder in the tar, next to the cluster's files. */
export const smallFolder = '.ringledger'

/** Describes the backup. */
export const aboutFile = 'about.json'

/** Always included: without it nobody can log in to the cluster. */
const passwordFile = 'postgres-password'

export interface About {
  format: 1
  /** Version of Postgres, such as `18.4`. */
  postgres: string
  made_at: string
  /** Included files of DATA_DIR. */
  files: string[]
}

const blockBytes = 512

/** The beginning of a tar, which another tar can follow. Skips `names` that DATA_DIR lacks. */
function headOf (dataDir: string, names: readonly string[], about: Omit<About, 'format' | 'files'>): Buffer {
  const files = names.filter((name) => existsSync(join(dataDir, name)))
  const said: About = { format: 1, ...about, files }
  return Buffer.concat([
    entry(aboutFile, Buffer.from(`${JSON.stringify(said, undefined, 2)}\n`)),
    ...files.map((name) => entry(name, readFileSync(join(dataDir, name))))
  ])
}

function entry (name: string, content: Buffer): Buffer {
  const header = new Header({
    path: `${smallFolder}/${name}`, mode: 0o600, size: content.length, type: 'File', mtime: new Date(), uid: 0, gid: 0
  })
  header.encode()
  const padding = Buffer.alloc((blockBytes - content.length % blockBytes) % blockBytes)
  return Buffer.concat([header.block ?? Buffer.alloc(0), content, padding])
}

const command = "BASE_BACKUP (LABEL 'ringledger', CHECKPOINT 'fast', WAL true, PROGRESS true, MANIFEST 'no')"

/** First byte of each message: a new archive, or data of the current one. We request no other kinds. */
const kinds = { archive: 'n'.charCodeAt(0), data: 'd'.charCodeAt(0) }

/** BASE_BACKUP as a `pg` statement: the client calls `handle…` with each message of the answer. */
class BaseBackup implements pg.Submittable {
  readonly tar: Readable
  #connection: pg.Connection | undefined
  #columns: string[] = []
  #archives = 0

  /** @param onSize gets the approximate size of the tar in bytes */
  constructor (private readonly onSize: (bytes: number) => void) {
    this.tar = new Readable({ read: () => { this.#connection?.stream.resume() } })
  }

  submit (connection: pg.Connection): void {
    this.#connection = connection
    connection.query(command)
  }

  handleRowDescription ({ fields }: { fields: Array<{ name: string }> }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  /** Only the second of the three result sets has a size, in KiB, with one row per tablespace. */
  handleDataRow ({ fields }: { fields: Array<Buffer | string | null> }): void {
    const size = fields[this.#columns.indexOf('size')]
    if (size) this.onSize(Number(String(size)) * 1024)
  }

  handleCopyData ({ chunk }: { chunk: Buffer }): void {
    if (chunk[0] === kinds.archive && ++this.#archives > 1) {
      this.tar.destroy(new Error('This cluster has tablespaces of its own, which are not backed up by this command.'))
    }
    // Copied, as the client reuses its buffer.
    if (chunk[0] === kinds.data && !this.tar.push(Buffer.from(chunk.subarray(1)))) this.#connection?.stream.pause()
  }

  handleCommandComplete (): void {}

  handleError (error: Error): void {
    this.tar.destroy(error)
  }

  handleReadyForQuery (): void {
    this.tar.push(null)
  }
}
