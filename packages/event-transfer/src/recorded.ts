// An event in transfer: its original bytes, its place, and when two events are the same.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

export interface Recorded {
  stream: string
  /** `tombstoneRevision` for the event that ends a stream. */
  revision: bigint
  id: string
  type: string
  /** `application/json`, or something else for binary data. */
  contentType: string
  data: Uint8Array
  metadata: Uint8Array
  /** Unix ms. Not transferred: the target writes its own. */
  created: number
  /** Position in the log it was read from; increases, but not by one. */
  position: bigint
}

export const tombstoneRevision = 2n ** 63n - 1n
export const isTombstone = ({ revision }: Recorded) => revision === tombstoneRevision

/** The stream whose metadata `stream` holds, if it is a metadata stream. */
export const describedBy = (stream: string) => stream.startsWith('$$') ? stream.slice(2) : undefined

export type JsonObject = Record<string, unknown>

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The parsed JSON; undefined when it is none. */
export function parsed (bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

/**
 * Servers make these events with ids of their own: a tombstone, and the `$metadata` with `$tb` that brings a
 * soft-deleted stream back when somebody appends to it or its metadata. So only their content can be compared.
 */
export function mayBeServerMade (event: Recorded): boolean {
  if (isTombstone(event)) return true
  if (describedBy(event.stream) === undefined) return false
  const metadata = parsed(event.data)
  return isObject(metadata) && '$tb' in metadata && metadata.$tb !== softDelete
}

/** A soft delete sets `$tb` to int64's maximum, which JSON.parse rounds up to 2^63. */
const softDelete = 2 ** 63

/** Whether both are the same event. A server-made one has another id and perhaps other white space. */
export function isSame (one: Recorded, other: Recorded): boolean {
  if (one.stream !== other.stream || one.revision !== other.revision || one.type !== other.type) return false
  if (mayBeServerMade(one)) return isDeepStrictEqual(parsed(one.data), parsed(other.data))
  return one.id === other.id && one.contentType === other.contentType &&
    Buffer.compare(one.data, other.data) === 0 && Buffer.compare(one.metadata, other.metadata) === 0
}

/** Counts and hashes events in log order: the same events give the same hash in every store and export. */
export class Tally {
  events = 0
  streams = 0
  readonly #hash = createHash('sha256')

  /** @param beginOf the first transferred revision of a stream */
  constructor (private readonly beginOf: (stream: string) => bigint = () => 0n) {}

  add (event: Recorded): void {
    const { stream, revision, id, type, contentType, data, metadata } = event
    const isServerMade = mayBeServerMade(event)
    this.events++
    if (revision === this.beginOf(stream)) this.streams++
    const own = isServerMade ? [] : [id, contentType, data.length, metadata.length]
    this.#hash.update(`${JSON.stringify([stream, String(revision), type, ...own])}\n`)
    if (!isServerMade) this.#hash.update(data).update(metadata)
  }

  /** Hash of the events added so far, in hexadecimal. */
  sha256 (): string {
    return this.#hash.copy().digest('hex')
  }
}
