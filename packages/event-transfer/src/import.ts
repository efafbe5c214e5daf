// An export as a source. The whole file is checked before any event is taken from it.
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, type Readable } from 'node:stream'
import { constants, createGunzip } from 'node:zlib'
import { format, version, type ExportOptions, type Footer } from './export.js'
import { TransferRefused } from './failure.js'
import { isObject, Tally, type JsonObject, type Recorded } from './recorded.js'
import { sourceOf, type Log, type Source } from './source.js'

interface ImportOptions extends ExportOptions {
  /** Accepts the complete lines of a truncated file. */
  allowTruncated: boolean
  /** Decodes the bytes of the file; UTF-8 by default. @throws Error with a message for people */
  decoder?: Decoder
}

/**
 * Reads the whole file to check it, and again as a source. Its positions are line numbers.
 * @throws TransferRefused when it is no export, has another version, or was truncated or changed
 */
export async function openExport (file: string, options: ImportOptions): Promise<Source> {
  const { allowTruncated, decoder, signal, onProgress } = options
  const tally = new Tally()
  let footer: Footer | undefined
  for await (const line of linesOf(file, decoder)) {
    signal.throwIfAborted()
    if (footer) throw new TransferRefused(`${file} goes on after its last line: it was changed since it was written`)
    if (line.kind === 'end') footer = line.footer
    else {
      tally.add(line.event)
      onProgress({ doing: 'checking', events: tally.events })
    }
  }
  if (!footer && !allowTruncated) {
    throw new TransferRefused(`${file} has no last line: it is not whole, its first ${tally.events} events are. ` +
      'Export again, or take these with --allow-truncated')
  }
  if (footer && (footer.events !== tally.events || footer.sha256 !== tally.sha256())) {
    const told = `${footer.events} events with SHA-256 ${footer.sha256}`
    throw new TransferRefused(`${file} was changed since it was written: its last line tells of ${told}, ` +
      `the file has ${tally.events} with ${tally.sha256()}`)
  }
  return await sourceOf(logIn(file, BigInt(tally.events), decoder))
}

function logIn (file: string, head: bigint, decoder?: Decoder): Log {
  let begins: Map<string, bigint> | undefined // first revision of each stream
  return { head, read, knows }

  async function * read (after: bigint): AsyncGenerator<Recorded, void> {
    for await (const line of linesOf(file, decoder, after)) {
      if (line.kind === 'event' && line.event.position <= head) yield line.event
    }
  }

  async function knows ({ stream, revision }: Recorded) {
    if (begins === undefined) {
      begins = new Map()
      for await (const { stream, revision } of read(0n)) if (!begins.has(stream)) begins.set(stream, revision)
    }
    const first = begins.get(stream)
    if (first === undefined) return 'stream unknown'
    return revision < first ? 'gone' : 'other'
  }
}

/** Lines after the header and after `skip` events; ends early if the file does. */
async function * linesOf (file: string, decoder?: Decoder, skip = 0n): AsyncGenerator<Line, void> {
  let number = 0n // the header is line 0
  let isHeader = true
  for await (const text of textLines(file, decoder)) {
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
  if (found === undefined) {
    throw new TransferRefused(`${file} is not a Ringledger export: write one with \`ringledger events export\``)
  }
  if (found !== version) {
    throw new TransferRefused(`${file} has version ${found} of the format, and version ${version} is read here: ` +
      'use the Ringledger that wrote it')
  }
}

function lineAt (file: string, number: bigint, text: string): Line {
  try {
    return parseLine(text, number)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new TransferRefused(`line ${number + 1n} of ${file} is no event: ${reason}`, { cause })
  }
}

type Line = { kind: 'event', event: Recorded } | { kind: 'end', footer: Footer }

/** Parses a line; `number` counts from the header. @throws an Error that says what is missing */
export function parseLine (text: string, number: bigint): Line {
  const line: unknown = JSON.parse(text)
  if (!isObject(line)) throw new Error('it is no object')
  if (line.end !== true) return { kind: 'event', event: eventIn(line, number) }
  return { kind: 'end', footer: { events: Number(line.events), streams: Number(line.streams), sha256: String(line.sha256) } }
}

function eventIn (line: JsonObject, position: bigint): Recorded {
  const missing = () => new Error('stream, revision, id, type or contentType is missing')
  const text = (name: string): string => {
    const value = line[name]
    if (typeof value !== 'string') throw missing()
    return value
  }
  const revision = String(line.revision)
  if (!/^\d+$/.test(revision)) throw missing()
  return {
    stream: text('stream'),
    revision: BigInt(revision),
    id: text('id'),
    type: text('type'),
    contentType: text('contentType'),
    created: Date.parse(String(line.created)),
    data: bytesOf(line, 'data'),
    metadata: bytesOf(line, 'metadata'),
    position
  }
}

function bytesOf (line: JsonObject, name: 'data' | 'metadata'): Uint8Array {
  const base64 = line[`${name}_base64`]
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64')
  return name in line ? Buffer.from(JSON.stringify(line[name])) : Buffer.alloc(0)
}

/** Version of an export from its header; undefined when the file is no export. */
function versionOf (header: string): number | undefined {
  try {
    const line: unknown = JSON.parse(header)
    return isObject(line) && line.format === format ? Number(line.version) : undefined
  } catch {
    return undefined
  }
}

/** Creates a streaming decoder: bytes in, text out. */
type Decoder = () => (bytes: Uint8Array) => string

const utf8: Decoder = () => {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return (bytes) => decoder.decode(bytes, { stream: true })
}

/**
 * Complete lines. Drops what follows the last line feed, and the rest of a broken gzip stream, as truncated.
 * @throws TransferRefused when the file cannot be read or unpacked
 */
async function * textLines (file: string, decoder = utf8): AsyncGenerator<string, void> {
  const decode = decoder()
  let rest = ''
  try {
    for await (const chunk of await openText(file) as AsyncIterable<Buffer>) {
      const [first = '', ...others] = decoded(file, chunk, decode).split('\n')
      const lines = [rest + first, ...others]
      rest = lines.pop() ?? ''
      yield * lines
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!code.startsWith('Z_')) throw error
    throw new TransferRefused(`${file} cannot be unpacked: it was changed since it was written`, { cause: error })
  }
}

function decoded (file: string, bytes: Buffer, decode: ReturnType<Decoder>): string {
  try {
    return decode(bytes)
  } catch (cause) {
    throw new TransferRefused(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** Opens a file, and unpacks gzip whatever its name. */
async function openText (file: string): Promise<Readable> {
  const isPacked = await startsAsGzip(file).catch((cause: Error) => {
    throw new TransferRefused(`${file} cannot be read: ${cause.message}`, { cause })
  })
  const bytes = createReadStream(file)
  if (!isPacked) return bytes
  // A truncated file ends without an error: that would drop what is unpacked and not read yet.
  const unpack = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH })
  return pipeline(bytes, unpack, () => {}) // the reader gets the error
}

async function startsAsGzip (file: string): Promise<boolean> {
  const handle = await open(file)
  const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0).finally(() => handle.close())
  return buffer.readUInt16BE() === 0x1f8b
}
