// Unpacks a backup, and finds out whether it is one, and whole.
import { once } from 'node:events'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Unpack } from 'tar'
import { errorCode, readJsonObject } from '../json-file.js'
import { aboutFile, smallFolder, type About } from './small-files.js'

interface ExtractRequest {
  file: string
  /** An empty folder. */
  into: string
  onProgress (done: number, total: number): void
  signal: AbortSignal
}

/** The checksum at the end of the file covers all of it. @throws when the file is damaged or cut off, or no tar */
export async function extract ({ file, into, onProgress, signal }: ExtractRequest): Promise<void> {
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
  unpacked.catch((error: unknown) => { refused = error }) // else it is awaited below
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
    throw asDamaged(file, refused ?? error) // a stream that is left early ends as aborted
  }
}

/** @throws when it is no backup of ours, or one of a later release */
export function readAbout (folder: string, file: string): About {
  const about = readJsonObject(join(folder, smallFolder, aboutFile)) ?? {}
  const files = Array.isArray(about.files) ? about.files.map(String) : []
  const isOurs = existsSync(join(folder, 'backup_label')) && files.length > 0 && files.every(isName)
  if (!isOurs) throw new Error(`${resolve(file)} is no backup of \`ringledger backup\`.`)
  if (about.format !== 1) throw new Error(`${resolve(file)} was made by a later release: restore it with that one.`)
  return { format: 1, postgres: String(about.postgres), made_at: String(about.made_at), files }
}

/** It names a file of DATA_DIR itself. */
const isName = (name: string) => /^[a-z][a-z.-]*$/.test(name)

function asDamaged (file: string, cause: unknown): unknown {
  const code = errorCode(cause)
  if (!/^(Z_|TAR_)/.test(code)) return cause
  const reason = cause instanceof Error ? cause.message : code
  return new Error(`${resolve(file)} is damaged or cut off (${reason}): take another backup, or copy it again.`, { cause })
}
