// Streams whose earlier events are hidden or gone: what of them travels, and what holds the places of the rest.
import { createHash } from 'node:crypto'
import { describedBy, isTombstone, type Recorded } from './recorded.js'
import { parsed } from './server-made.js'

/** Stands in a target where the source has nothing any more: it holds a revision, and nobody sees it. */
const placeholderType = '$scavenged'

export const isPlaceholder = ({ type }: Recorded) => type === placeholderType

/** The same one for the same place, so that two copies at once write it once. It has no data: metadata hide it. */
export function placeholder (stream: string, revision: bigint): Recorded {
  const hex = createHash('sha256').update(`${stream} ${revision}`).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  const id = parts.join('-')
  const nothing = { data: new Uint8Array(), metadata: new Uint8Array(), created: 0, position: 0n }
  return { stream, revision, id, type: placeholderType, contentType: 'application/octet-stream', ...nothing }
}

interface Limit {
  /** The last one: it replaced those before it. */
  metadata: bigint
  /** `$tb` of it. */
  truncateBefore: bigint
  /** The last event that is in the log. */
  last: bigint
  isTombstoned: boolean
}

const unlimited: Limit = { metadata: -1n, truncateBefore: 0n, last: -1n, isTombstoned: false }

/** What a scavenge removes for `$tb`, deletes and newer metadata stays behind. The last event of a stream travels. */
export class Limits {
  readonly #limits = new Map<string, Limit>()

  /** Whether the stream has metadata or a tombstone, or is one of metadata: others have no gaps. */
  isLimited (stream: string): boolean {
    return describedBy(stream) !== undefined || this.#limits.has(stream)
  }

  /** Whether the stream was deleted, or truncated, or is the metadata of one that was. */
  hides (stream: string): boolean {
    const limit = this.#limits.get(describedBy(stream) ?? stream)
    return limit !== undefined && (limit.isTombstoned || limit.truncateBefore > 0n)
  }

  leavesOut (event: Recorded): boolean {
    const described = describedBy(event.stream)
    const limit = this.#limits.get(described ?? event.stream)
    if (limit === undefined) return false
    if (limit.isTombstoned) return !isTombstone(event)
    if (described !== undefined) return event.revision < limit.metadata
    return event.revision < limit.truncateBefore && event.revision < limit.last
  }

  note (event: Recorded): void {
    const described = describedBy(event.stream)
    if (described !== undefined) {
      const truncateBefore = truncationIn(event)
      this.#limits.set(described, { ...this.#of(described), metadata: event.revision, truncateBefore })
    } else if (isTombstone(event)) this.#limits.set(event.stream, { ...this.#of(event.stream), isTombstoned: true })
  }

  noteLast ({ stream, revision }: Recorded): void {
    const limit = this.#limits.get(stream)
    if (limit !== undefined) limit.last = revision
  }

  get hideSomething (): boolean {
    return [...this.#limits.values()].some(({ truncateBefore }) => truncateBefore > 0n)
  }

  #of (stream: string): Limit {
    return this.#limits.get(stream) ?? unlimited
  }
}

/** Reads the log once, and again when it has truncated streams. */
export async function limitsIn (read: () => AsyncIterable<Recorded>): Promise<Limits> {
  const limits = new Limits()
  for await (const event of read()) limits.note(event)
  if (limits.hideSomething) for await (const event of read()) limits.noteLast(event)
  return limits
}

const wholeNumbers = ['$tb', '$maxCount', '$maxAge', '$cacheControl']

/** Where a delete lets a stream begin is beyond every revision. A server passes over metadata with one bad value. */
function truncationIn ({ contentType, data }: Recorded): bigint {
  const metadata = contentType === 'application/json' ? parsed(data) : undefined
  if (typeof metadata !== 'object' || metadata === null) return 0n
  const values = new Map(Object.entries(metadata))
  if (wholeNumbers.some((name) => values.has(name) && !Number.isInteger(values.get(name)))) return 0n
  return BigInt(Math.max(0, Number(values.get('$tb') ?? 0)))
}
