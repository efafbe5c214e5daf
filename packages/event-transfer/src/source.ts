// Sources of events. Omits events that a scavenge would remove because metadata hides them.
import { createHash } from 'node:crypto'
import { TransferRefused } from './failure.js'
import { describedBy, isObject, isTombstone, parsed, tombstoneRevision, type Recorded } from './recorded.js'
import type { Knowledge, Store } from './store.js'

/** The log of a store up to its head at the start, or an export. */
export interface Log {
  /** Position of the last event to transfer. */
  head: bigint
  /** Events after a position up to the head, in log order. */
  read (after: bigint): AsyncGenerator<Recorded, void>
  knows (event: Recorded): Promise<Knowledge>
}

/** A log without the events that are not transferred. */
export interface Source extends Log {
  limits: Limits
}

export async function logOf (store: Store): Promise<Source> {
  const head = await store.head()
  const read = (after: bigint) => travelling(store.read(after, head))
  return await sourceOf({ head, read, knows: (event) => store.knows(event) })
}

/** Reads the log once, and again if it has truncated streams. @throws TransferRefused as `refuseMoving` does */
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

/** Omits system streams (`$…`, and their metadata) and placeholders. */
export async function * travelling (events: AsyncIterable<Recorded>): AsyncGenerator<Recorded, void> {
  for await (const event of events) {
    const isOfServer = (describedBy(event.stream) ?? event.stream).startsWith('$')
    if (!isOfServer && event.type !== placeholderType) yield event
  }
}

/** Replaces events that the source no longer has: it occupies the revision, and metadata hides it. */
const placeholderType = '$scavenged'

/** Deterministic, so that two concurrent copies write it once. It needs no data, as metadata hides it. */
export function placeholder (stream: string, revision: bigint): Recorded {
  const hex = createHash('sha256').update(`${stream} ${revision}`).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  const id = parts.join('-')
  const nothing = { data: new Uint8Array(), metadata: new Uint8Array(), created: 0, position: 0n }
  return { stream, revision, id, type: placeholderType, contentType: 'application/octet-stream', ...nothing }
}

interface Limit {
  /** Revision of the last metadata event, which replaces those before. */
  metadata: bigint
  /** Its `$tb`. */
  truncateBefore: bigint
  /** The setting that hides more events as time passes or others are appended. */
  moving: string | undefined
  /** Revision of the stream's last event in the log. */
  last: bigint
  isTombstoned: boolean
}

const unlimited: Limit = { metadata: 0n, truncateBefore: 0n, moving: undefined, last: 0n, isTombstoned: false }

/** Tracks what a scavenge would remove for `$tb`, deletes and newer metadata. The last event of a stream stays. */
export class Limits {
  readonly #limits = new Map<string, Limit>()

  /** Whether the stream was deleted or truncated, or is the metadata of such a stream. */
  hides (stream: string): boolean {
    const { isTombstoned, truncateBefore } = this.#of(describedBy(stream) ?? stream)
    return isTombstoned || truncateBefore > 0n
  }

  /** First transferred revision of a stream; all later ones are transferred too. */
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

  /** @throws TransferRefused when source and target would show different events of a stream, at once or later */
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

/** A soft delete's `$tb` is beyond every revision. One value of the wrong type voids all metadata, as in servers. */
function hiddenBy ({ contentType, data }: Recorded): Pick<Limit, 'truncateBefore' | 'moving'> {
  const metadata = contentType === 'application/json' ? parsed(data) : undefined
  const members = isObject(metadata) ? metadata : {}
  const { $tb = 0, $cacheControl = 0, $tmp = false, $acl = {} } = members
  const isTaken = Number.isInteger($tb) && Number.isInteger($cacheControl) && typeof $tmp === 'boolean' && isAcl($acl)
  return {
    moving: ['$maxAge', '$maxCount'].find((name) => name in members),
    truncateBefore: isTaken ? BigInt(Math.max(0, Number($tb))) : 0n
  }
}

/** Roles are a string or a list of strings. */
const isAcl = (acl: unknown) => isObject(acl) && Object.entries(acl).every(([key, roles]) =>
  /^\$(r|w|d|mr|mw)$/.test(key) && [roles].flat().every((role) => typeof role === 'string'))
