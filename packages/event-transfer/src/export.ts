// Writes a log as lines: a header, one line per event, and a footer without which the file is incomplete.
import { randomUUID } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { TransferRefused } from './failure.js'
import { Tally, type Recorded } from './recorded.js'
import type { Source } from './source.js'
import type { Progress } from './transfer.js'

export const format = 'ringledger-events'
/** Version of the format. Since 2 it omits what `$tb` and deletes hide, and the hash skips ids of more metadata. */
export const version = 2

/** Content of the last line. */
export interface Footer {
  events: number
  streams: number
  sha256: string
}

export interface ExportOptions {
  signal: AbortSignal
  onProgress (progress: Progress): void
}

const chunkLength = 64 * 1024

/** Writes the export to `output` and leaves it open. */
export async function exportTo (output: Writable, source: Source, options: ExportOptions): Promise<Footer> {
  const tally = new Tally(source.limits.beginOf)
  await pipeline(chunks(lines(source, tally, options)), output, { end: false, signal: options.signal })
  return footerOf(tally)
}

/**
 * Writes a temporary file next to `file`, flushes it, and renames it, which replaces a former file. Uses gzip when the
 * name ends in .gz. Only the owner may read it.
 */
export async function exportToFile (file: string, source: Source, options: ExportOptions): Promise<Footer> {
  const found = await stat(file).catch(() => undefined)
  if (found && !found.isFile()) throw new TransferRefused(`${file} is no regular file: choose another name, or - for stdout`)
  const part = `${file}.${randomUUID().slice(0, 8)}.part`
  const handle = await open(part, 'wx', 0o600).catch((cause: Error) => {
    throw new TransferRefused(`${file} cannot be written: ${cause.message}`, { cause })
  })
  try {
    const tally = new Tally(source.limits.beginOf)
    const text = chunks(lines(source, tally, options))
    const output = handle.createWriteStream({ flush: true })
    await (file.endsWith('.gz') ? pipeline(text, createGzip(), output, options) : pipeline(text, output, options))
    await rename(part, file)
    return footerOf(tally)
  } catch (error) {
    await handle.close().catch(() => {})
    await rm(part, { force: true })
    throw error
  }
}

async function * lines (source: Source, tally: Tally, { onProgress }: ExportOptions): AsyncGenerator<string, void> {
  yield JSON.stringify({ format, version, exported_at: new Date().toISOString() })
  for await (const event of source.read(0n)) {
    tally.add(event)
    yield eventLine(event)
    onProgress({ doing: 'exporting', events: tally.events, done: Number(event.position) / Number(source.head) })
  }
  yield JSON.stringify({ end: true, ...footerOf(tally) })
}

const footerOf = (tally: Tally): Footer => ({ events: tally.events, streams: tally.streams, sha256: tally.sha256() })

/** Joins lines into chunks that are worth a write. */
async function * chunks (lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < chunkLength) continue
    yield text
    text = ''
  }
  yield text
}

export function eventLine ({ stream, revision, id, type, created, contentType, data, metadata }: Recorded): string {
  return JSON.stringify({
    stream,
    revision: revision <= Number.MAX_SAFE_INTEGER ? Number(revision) : String(revision),
    id,
    type,
    created: new Date(created).toISOString(),
    contentType,
    ...field('data', data),
    ...field('metadata', metadata)
  })
}

/** JSON if that reproduces the same bytes, else base64; no field for no bytes. */
function field (name: 'data' | 'metadata', bytes: Uint8Array): object {
  if (bytes.length === 0) return {}
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const value: unknown = JSON.parse(buffer.toString())
    if (Buffer.from(JSON.stringify(value)).equals(buffer)) return { [name]: value }
  } catch {} // not JSON
  return { [`${name}_base64`]: buffer.toString('base64') }
}
