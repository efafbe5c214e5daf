// Where events come from, and which of them travel: not those that a scavenge would remove, as metadata hide them.
import { createHash } from 'node:crypto'
import { TransferRefused } from './failure.js'
import { describedBy, isTombstone, parsed, tombstoneRevision, type Recorded } from './recorded.js'
import type { Knowledge, Store } from './store.js'

/** The log of a store up to its head at the start, or an export. */
export interface Log {
  /** The place of the last event to take over. */
  head: bigint
  /** What comes after a place and up to the head, in log order. */
  read (after: bigint): AsyncGenerator<Recorded, void>
  knows (event: Recorded): Promise<Knowledge>
}

/** A log without what does not travel. */
export interface Source extends Log {
  limits: Limits
}

/** The log of a store up to its present head. */
export async function logOf (store: Store): Promise<Source> {
  const head = await store.head()
  const read = (after: bigint) => travelling(store.read(after, head))
  return await sourceOf({ head, read, knows: (event) => store.knows(event) })
}

/** Reads the log once, and again when it has truncated streams. @throws TransferRefused as `refuseMoving` does */
export async function sourceOf (log: Log): Promise<Source> {
  const limits = new Limits()
  for await (const event of log.read(0n)) limits.note(event)
  limits.refuseMoving()
  if (limits.hideSomething) for await (const event of log.read(0n)) limits.noteLast(event)
  async function * read (after: bigint): AsyncGenerator<Recorded, void> {
    for await (const event of log.read(after)) if (event.revision >= limits.beginOf(event.stream)) yield event
  }
  return { ...log, limits, read }
}

/** Streams of the server itself (`$…`, also their metadata) and placeholders stay behind. */
export async function * travelling (events: AsyncIterable<Recorded>): AsyncGenerator<Recorded, void> {
  for await (const event of events) {
    const isOfServer = (describedBy(event.stream) ?? event.stream).startsWith('$')
    if (!isOfServer && event.type !== placeholderType) yield event
  }
}

/** Stands in a target where the source has nothing any more: it holds a revision, and nobody sees it. */
const placeholderType = '$scavenged'

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
  /** What of it hides events as time passes or others are appended. */
  moving: string | undefined
  /** The last event that is in the log. */
  last: bigint
  isTombstoned: boolean
}

const unlimited: Limit = { metadata: 0n, truncateBefore: 0n, moving: undefined, last: 0n, isTombstoned: false }

/** What a scavenge removes for `$tb`, deletes and newer metadata stays behind. The last event of a stream travels. */
export class Limits {
  readonly #limits = new Map<string, Limit>()

  /** Whether the stream was deleted, or truncated, or is the metadata of one that was. */
  hides (stream: string): boolean {
    const { isTombstoned, truncateBefore } = this.#of(describedBy(stream) ?? stream)
    return isTombstoned || truncateBefore > 0n
  }

  /** The revision of the first event of a stream that travels; all after it do. */
  beginOf = (stream: string): bigint => {
    const described = describedBy(stream)
    const { metadata, truncateBefore, last, isTombstoned } = this.#of(described ?? stream)
    if (isTombstoned) return tombstoneRevision
    if (described !== undefined) return metadata
    return truncateBefore < last ? truncateBefore : last
  }

  note (event: Recorded): void {
    const described = describedBy(event.stream)
    if (described !== undefined) {
      this.#limits.set(described, { ...this.#of(described), metadata: event.revision, ...hiddenBy(event) })
    } else if (isTombstone(event)) this.#limits.set(event.stream, { ...this.#of(event.stream), isTombstoned: true })
  }

  noteLast ({ stream, revision }: Recorded): void {
    const limit = this.#limits.get(stream)
    if (limit !== undefined) limit.last = revision
  }

  get hideSomething (): boolean {
    return [...this.#limits.values()].some(({ truncateBefore }) => truncateBefore > 0n)
  }

  /** @throws TransferRefused when which events a stream shows is not the same in source and target, or not for long */
  refuseMoving (): void {
    const moving = [...this.#limits].filter(([, limit]) => limit.moving !== undefined && !limit.isTombstoned)
    const [[stream, limit] = []] = moving
    if (stream === undefined || limit?.moving === undefined) return
    const others = moving.length > 1 ? ` (${moving.length - 1} more have such limits)` : ''
    throw new TransferRefused(`stream ${stream} has ${limit.moving} in its metadata${others}, and no copy shows the ` +
      `same events of it for long: write metadata without ${limit.moving} to $$${stream}; where it has hidden events, ` +
      'put $tb in its place, with the first revision that is to stay')
  }

  #of (stream: string): Limit {
    return this.#limits.get(stream) ?? unlimited
  }
}

/** Where a delete lets a stream begin is beyond every revision. A server passes over metadata with one bad value. */
function hiddenBy ({ contentType, data }: Recorded): Pick<Limit, 'truncateBefore' | 'moving'> {
  const metadata = contentType === 'application/json' ? parsed(data) : undefined
  const values = new Map(Object.entries(metadata ?? {}))
  const moving = ['$maxAge', '$maxCount'].find((name) => values.has(name))
  const isTaken = ['$tb', '$cacheControl'].every((name) => !values.has(name) || Number.isInteger(values.get(name)))
  return { moving, truncateBefore: isTaken ? BigInt(Math.max(0, Number(values.get('$tb') ?? 0))) : 0n }
}
