// What makes two events the same, and a running SHA-256 over a whole log of them.
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Limits } from './limited.js'
import type { Recorded } from './recorded.js'
import { mayBeServerMade, parsed } from './server-made.js'

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

  constructor (private readonly limits: Pick<Limits, 'beginOf'> = { beginOf: () => 0n }) {}

  add (event: Recorded): void {
    const { stream, revision, id, type, contentType, data, metadata } = event
    const isServerMade = mayBeServerMade(event)
    this.events++
    if (revision === this.limits.beginOf(stream)) this.streams++
    const own = isServerMade ? [] : [id, contentType, data.length, metadata.length]
    this.#hash.update(`${JSON.stringify([stream, String(revision), type, ...own])}\n`)
    if (!isServerMade) this.#hash.update(data).update(metadata)
  }

  /** Of what was added so far, in hexadecimal. */
  sha256 (): string {
    return this.#hash.copy().digest('hex')
  }
}
