// An event as it travels: the very bytes that were written, where they stand, and what makes two of them the same.
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
  /** Unix ms; the store that takes it over writes its own. */
  created: number
  /** Place in the log that it was read from; grows, but not by one. */
  position: bigint
}

export const tombstoneRevision = 2n ** 63n - 1n
export const isTombstone = ({ revision }: Recorded) => revision === tombstoneRevision

/** The stream whose metadata `stream` holds, if it is such a stream. */
export const describedBy = (stream: string) => stream.startsWith('$$') ? stream.slice(2) : undefined

/** The value of a JSON text, or undefined when the text is no JSON. */
export function parsed (bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString())
  } catch {
    return undefined
  }
}

/**
 * A tombstone is the answer to a request. An append to a soft-deleted stream or to its metadata adds a `$metadata`
 * event with `$tb`, which brings the stream back. Both have ids of the server's own: the same is what says the same.
 */
export function mayBeServerMade (event: Recorded): boolean {
  if (isTombstone(event)) return true
  if (describedBy(event.stream) === undefined) return false
  const metadata = parsed(event.data)
  return typeof metadata === 'object' && metadata !== null && '$tb' in metadata && metadata.$tb !== softDelete
}

/** `$tb` of a delete is int64's maximum, which JSON.parse rounds up to 2^63. */
const softDelete = 2 ** 63

/** Whether both are the same event; one that a server made by itself has another id and perhaps other spacing. */
export function isSame (one: Recorded, other: Recorded): boolean {
  if (one.stream !== other.stream || one.revision !== other.revision || one.type !== other.type) return false
  if (mayBeServerMade(one)) return isDeepStrictEqual(parsed(one.data), parsed(other.data))
  return one.id === other.id && one.contentType === other.contentType &&
    Buffer.compare(one.data, other.data) === 0 && Buffer.compare(one.metadata, other.metadata) === 0
}

/** Counts and hashes events in log order; the same events give the same hash in every store and in every export. */
export class Tally {
  events = 0
  streams = 0
  readonly #hash = createHash('sha256')

  /** @param beginOf the first revision of a stream that travels */
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

  /** Of what was added so far, in hexadecimal. */
  sha256 (): string {
    return this.#hash.copy().digest('hex')
  }
}
