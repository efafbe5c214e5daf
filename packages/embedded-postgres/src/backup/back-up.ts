// Writes the backup of a DATA_DIR: the cluster and a few small files as one compressed tar, whole or not at all.
import { randomUUID } from 'node:crypto'
import { createWriteStream, existsSync, linkSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import pg from 'pg'
import { errorCode } from '../json-file.js'
import { baseBackup } from './base-backup.js'
import { sync } from './own.js'
import { headOf, passwordFile } from './small-files.js'

export interface BackupRequest {
  dataDir: string
  /** Of the Postgres that runs there. */
  url: string
  /** Where it is written. */
  file: string
  /** Whether a file that is there may be replaced. */
  overwrite: boolean
  /** Files of DATA_DIR to be in it beside the cluster and its password. One that is missing is left out. */
  files: readonly string[]
  /** Bytes before they are compressed; `total` is an estimate. */
  onProgress (done: number, total: number): void
  signal: AbortSignal
}

export interface Backup {
  file: string
  bytes: number
  /** Such as `18.4`. */
  postgres: string
}

/** Fast, and about as small as it gets: pages of Postgres hold texts and zeros. */
const compressionLevel = 3

/** @throws when the file is there already, cannot be written, or Postgres cannot make a backup; then no file is left */
export async function backUp (request: BackupRequest): Promise<Backup> {
  const { url, overwrite, signal } = request
  const file = resolve(request.file)
  if (!overwrite && existsSync(file)) throw isThere(file)
  const postgres = await versionOf(url)
  const draft = `${file}.${randomUUID()}.part`
  try {
    // It is there from now on, and not when a stream gets to it: what is broken off removes it.
    const written = createWriteStream(draft, { fd: openSync(draft, 'wx', 0o600), flush: true })
    const tar = Readable.from(contents(request, postgres))
    await pipeline(tar, createGzip({ level: compressionLevel }), written, { signal })
    publish(draft, file, overwrite)
    return { file, bytes: statSync(file).size, postgres }
  } catch (error) {
    if (['ENOENT', 'EACCES', 'EROFS', 'ENOTDIR'].includes(errorCode(error))) throw cannotBeWritten(file, error)
    if (errorCode(error) === 'ENOSPC') throw new Error(`The disk of ${file} is full: write the backup to another one.`)
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

async function * contents (
  { dataDir, url, files, onProgress }: BackupRequest, postgres: string
): AsyncGenerator<Buffer> {
  let total = 0
  let done = 0
  yield headOf(dataDir, [passwordFile, ...files], { postgres, made_at: new Date().toISOString() })
  for await (const chunk of baseBackup(url, (bytes) => { total += bytes })) {
    yield chunk
    onProgress(done += chunk.length, total)
  }
}

/** Gives the file its name once it is on disk; a link fails where somebody else made one meanwhile. */
function publish (draft: string, file: string, overwrite: boolean): void {
  try {
    if (overwrite) renameSync(draft, file)
    else linkSync(draft, file)
  } catch (error) {
    throw errorCode(error) === 'EEXIST' ? isThere(file) : error
  }
  sync(dirname(file))
}

async function versionOf (url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {}) // the query rejects
  await client.connect()
  try {
    const { rows: [row] } = await client.query<{ server_version: string }>('SHOW server_version')
    return row?.server_version ?? ''
  } finally {
    await client.end()
  }
}

const isThere = (file: string) =>
  new Error(`${file} is there already: choose another name, or replace it with --overwrite.`)

const cannotBeWritten = (file: string, cause: unknown) =>
  new Error(`${file} cannot be written (${errorCode(cause)}): choose a directory that is there and that you may write.`)
