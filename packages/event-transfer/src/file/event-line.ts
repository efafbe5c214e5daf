// The lines of an export: a header, an event a line, and a last line without which the file is not whole.
import type { Recorded } from '../recorded.js'

export const format = 'ringledger-events'
/** Of the format. What `$tb` and deletes hide is left out since 2, and the hash passes over ids of more metadata. */
export const version = 2

export interface Footer {
  events: number
  streams: number
  sha256: string
}

interface EventLine {
  stream: string
  /** A string beyond 2^53. */
  revision: number | string
  id: string
  type: string
  created: string
  contentType: string
  data?: unknown
  data_base64?: string
  metadata?: unknown
  metadata_base64?: string
}

export function headerLine (exportedAt: Date): string {
  return JSON.stringify({ format, version, exported_at: exportedAt.toISOString() })
}

export function footerLine (footer: Footer): string {
  return JSON.stringify({ end: true, ...footer })
}

export function eventLine ({ stream, revision, id, type, created, contentType, data, metadata }: Recorded): string {
  const line: EventLine = {
    stream,
    revision: revision <= Number.MAX_SAFE_INTEGER ? Number(revision) : String(revision),
    id,
    type,
    created: new Date(created).toISOString(),
    contentType,
    ...field('data', data),
    ...field('metadata', metadata)
  }
  return JSON.stringify(line)
}

/** JSON where that gives the same bytes again, else base64; no field when there are no bytes. */
function field (name: 'data' | 'metadata', bytes: Uint8Array): object {
  if (bytes.length === 0) return {}
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    const value: unknown = JSON.parse(buffer.toString())
    if (Buffer.from(JSON.stringify(value)).equals(buffer)) return { [name]: value }
  } catch {} // not JSON
  return { [`${name}_base64`]: buffer.toString('base64') }
}

export type Line =
  | { kind: 'event', event: Omit<Recorded, 'position'> }
  | { kind: 'end', footer: Footer }

type JsonObject = Record<string, unknown>

/** Reads one line after the header. @throws an Error that says what it lacks */
export function parseLine (text: string): Line {
  const line: unknown = JSON.parse(text)
  if (!isObject(line)) throw new Error('it is no object')
  return line.end === true ? { kind: 'end', footer: footerIn(line) } : { kind: 'event', event: eventIn(line) }
}

function footerIn ({ events, streams, sha256 }: JsonObject): Footer {
  return { events: Number(events), streams: Number(streams), sha256: String(sha256) }
}

function eventIn (line: JsonObject): Omit<Recorded, 'position'> {
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
    metadata: bytesOf(line, 'metadata')
  }
}

const missing = () => new Error('stream, revision, id, type or contentType is missing')

/** The version of an export by its first line, or undefined when the file is no export. */
export function versionOf (header: string): number | undefined {
  try {
    const line: unknown = JSON.parse(header)
    return isObject(line) && line.format === format ? Number(line.version) : undefined
  } catch {
    return undefined
  }
}

function bytesOf (line: JsonObject, name: 'data' | 'metadata'): Uint8Array {
  const base64 = line[`${name}_base64`]
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64')
  return name in line ? Buffer.from(JSON.stringify(line[name])) : Buffer.alloc(0)
}

function isObject (value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
