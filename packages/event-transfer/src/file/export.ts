// Writes a log as lines; a file gets its name only when it is whole.
import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Source } from '../compare.js'
import { eventLine, footerLine, headerLine, type Footer } from './event-line.js'
import { Tally } from '../fingerprint.js'
import type { Progress } from '../progress.js'
import { TransferRefused } from '../refused.js'

export interface ExportOptions {
  signal: AbortSignal
  onProgress (progress: Progress): void
}

const chunkLength = 64 * 1024

/** Writes the export to a stream that stays open. */
export async function exportTo (output: Writable, source: Source, options: ExportOptions): Promise<Footer> {
  const tally = new Tally(source.limits)
  await pipeline(chunks(lines(source, tally, options)), output, { end: false, signal: options.signal })
  return footerOf(tally)
}

/**
 * Writes to a temporary name beside `file` and renames it when it is on the disk; gzip when the name ends in .gz.
 * Only its owner may read it. A former file of that name is replaced.
 */
export async function exportToFile (file: string, source: Source, options: ExportOptions): Promise<Footer> {
  const part = `${file}.${randomUUID().slice(0, 8)}.part`
  const handle = await open(part, 'wx', 0o600).catch((cause: Error) => {
    throw new TransferRefused(`${file} cannot be written: ${cause.message}`, { cause })
  })
  try {
    const tally = new Tally(source.limits)
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
  yield headerLine(new Date())
  for await (const event of source.read(0n)) {
    tally.add(event)
    yield eventLine(event)
    onProgress({ doing: 'exporting', events: tally.events, done: Number(event.position) / Number(source.head) })
  }
  yield footerLine(footerOf(tally))
}

const footerOf = (tally: Tally): Footer => ({ events: tally.events, streams: tally.streams, sha256: tally.sha256() })

/** Joins lines to pieces that are worth a write. */
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
