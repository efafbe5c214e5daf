// An export as a source: checked from its first to its last line before anything is taken from it.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Source } from './compare.js'
import { parseLine, version, versionOf, type Footer, type Line } from './event-line.js'
import { Tally } from './fingerprint.js'
import type { Progress } from './progress.js'
import type { Recorded } from './recorded.js'
import { TransferRefused } from './refused.js'
import { ServerMade } from './server-made.js'

export interface ImportOptions {
  /** Take the whole lines of a file that lacks its end. */
  allowTruncated: boolean
  signal: AbortSignal
  onProgress (progress: Progress): void
}

/**
 * Reads the whole file once to check it, and again when it is read as a source. Its positions are numbers of lines.
 * @throws TransferRefused when it is no export, of another version, truncated or changed
 */
export async function openExport (file: string, { allowTruncated, signal, onProgress }: ImportOptions): Promise<Source> {
  const tally = new Tally()
  const serverMade = new ServerMade()
  let footer: Footer | undefined
  for await (const line of linesOf(file)) {
    signal.throwIfAborted()
    if (footer) throw new TransferRefused(`${file} goes on after its last line: it was changed since it was written`)
    if (line.kind === 'end') footer = line.footer
    else {
      tally.add(line.event, serverMade.includes(line.event))
      serverMade.pass(line.event)
      onProgress({ doing: 'checking', events: tally.events })
    }
  }
  if (!footer && !allowTruncated) throw new TransferRefused(`${file} has no last line: it is not whole, its first ${tally.events} events are. Export again, or take these with --allow-truncated`)
  if (footer && (footer.events !== tally.events || footer.sha256 !== tally.sha256())) {
    throw new TransferRefused(`${file} was changed since it was written: its last line tells of ${footer.events} events with SHA-256 ${footer.sha256}, the file has ${tally.events} with ${tally.sha256()}`)
  }
  return sourceOf(file, BigInt(tally.events))
}

function sourceOf (file: string, head: bigint): Source {
  let streams: Set<string> | undefined
  return { head, read, knows }

  async function * read (after: bigint): AsyncGenerator<Recorded, void> {
    for await (const line of linesOf(file, after)) {
      if (line.kind === 'event' && line.event.position <= head) yield line.event
    }
  }

  async function knows ({ stream }: Recorded) {
    streams ??= await streamsIn(read(0n))
    return streams.has(stream) ? 'other' : 'stream unknown'
  }
}

async function streamsIn (events: AsyncIterable<Recorded>): Promise<Set<string>> {
  const streams = new Set<string>()
  for await (const { stream } of events) streams.add(stream)
  return streams
}

type PlacedLine = Exclude<Line, { kind: 'event' }> | { kind: 'event', event: Recorded }

/** What stands after the header and after `skip` events; ends early where the file does. */
async function * linesOf (file: string, skip = 0n): AsyncGenerator<PlacedLine, void> {
  let number = 0n // the header is line 0
  let isHeader = true
  for await (const text of textLines(file)) {
    if (isHeader) {
      refuseOtherThan(file, versionOf(text))
      isHeader = false
      continue
    }
    if (++number <= skip) continue
    yield lineAt(file, number, text)
  }
  if (isHeader) refuseOtherThan(file, undefined)
}

function refuseOtherThan (file: string, found: number | undefined): void {
  if (found === undefined) throw new TransferRefused(`${file} is not a Ringledger export: write one with \`ringledger events export\``)
  if (found !== version) throw new TransferRefused(`${file} has version ${found} of the format, and version ${version} is read here: use the Ringledger that wrote it`)
}

function lineAt (file: string, number: bigint, text: string): PlacedLine {
  try {
    const line = parseLine(text)
    return line.kind === 'event' ? { kind: 'event', event: { ...line.event, position: number } } : line
  } catch (cause) {
    throw new TransferRefused(`line ${number + 1n} of ${file} is no event: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** The text of a file, unpacked if it is gzip, whatever its name. @throws TransferRefused */
async function openText (file: string): Promise<Readable> {
  const isPacked = await startsAsGzip(file).catch((cause: Error) => { throw new TransferRefused(`${file} cannot be read: ${cause.message}`, { cause }) })
  const bytes = createReadStream(file)
  return isPacked ? pipeline(bytes, createGunzip(), () => {}) : bytes // the reader gets the error
}

async function startsAsGzip (file: string): Promise<boolean> {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0).finally(() => handle.close())
  return buffer.readUInt16BE() === 0x1f8b
}

/** Whole lines; what follows the last line feed was cut off, and so was what a broken gzip stream would go on with. */
async function * textLines (file: string): AsyncGenerator<string, void> {
  let pieces: Buffer[] = []
  try {
    for await (const chunk of await openText(file) as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        yield Buffer.concat([...pieces, chunk.subarray(start, end)]).toString()
        pieces = []
        start = end + 1
      }
      if (start < chunk.length) pieces.push(chunk.subarray(start))
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'Z_BUF_ERROR') return // cut off
    throw code.startsWith('Z_') ? new TransferRefused(`${file} cannot be unpacked: it was changed since it was written`, { cause: error }) : error
  }
}
