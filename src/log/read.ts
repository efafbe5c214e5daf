// Reads streams and the end of the log. What is read decides something, so it is read from the leader alone.
import {
  BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError, type ReadAllOptions, type ReadStreamOptions,
  type StreamingRead
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import type { EventStoreConnection, Session } from './connection.js'
import { readError, StreamTruncated, NoAnswer } from './errors.js'
import { toStoredEvent, sizeOf } from './stored.js'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

const requiresLeader = true

export class Reader {
  constructor (private readonly connection: EventStoreConnection, private readonly answerWithinMs: number) {}

  async read (
    stream: string, fromRevision = 0n, maxCount = Number.MAX_SAFE_INTEGER, withinMs = this.answerWithinMs
  ): Promise<StoredEvent[]> {
    const events: StoredEvent[] = []
    await this.visit(stream, fromRevision, (event) => { events.push(event) }, maxCount, withinMs)
    return events
  }

  async visit (
    stream: string, fromRevision: bigint, take: (event: StoredEvent) => void,
    maxCount = Number.MAX_SAFE_INTEGER, withinMs = this.answerWithinMs
  ): Promise<boolean> {
    let next = fromRevision
    let hasGap = false
    let isEmpty = fromRevision === 0n
    const isThere = await this.#each(stream, { direction: FORWARDS, fromRevision, maxCount }, withinMs, (event) => {
      hasGap ||= event.revision !== next
      next = event.revision + 1n
      isEmpty = false
      take(event)
    })
    if (hasGap || isEmpty) await this.#refuseTruncated(stream, isEmpty)
    return isThere
  }

  async last (stream: string): Promise<StoredEvent | undefined> {
    const options = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const
    let newest: StoredEvent | undefined
    await this.#each(stream, options, this.answerWithinMs, (event) => { newest = event })
    return newest
  }

  async head (): Promise<bigint> {
    const newest = await this.#firstOfAll({ direction: BACKWARDS, fromPosition: END })
    return newest?.commitPosition ?? newest?.event?.position.commit ?? 0n
  }

  /** The id of the event at a position up to the head; nothing where a scavenge has taken it. */
  async idAt (position: bigint): Promise<string | undefined> {
    const fromPosition = { commit: position, prepare: position }
    const first = await this.#firstOfAll({ direction: FORWARDS, fromPosition })
    return first?.event?.position.commit === position ? first.event.id : undefined
  }

  async #firstOfAll (from: Pick<ReadAllOptions, 'direction' | 'fromPosition'>) {
    try {
      const [first] = await this.connection.onLeader(async (session) =>
        await collect(session, session.client.readAll({ ...from, maxCount: 1, requiresLeader }), this.answerWithinMs))
      return first
    } catch (error) {
      throw readError(error)
    }
  }

  async limitOf (stream: string): Promise<Limit | undefined> {
    const metadata = await this.last(`$$${stream}`).catch(() => undefined) // it may not be readable
    return limitIn(metadata?.data)
  }

  /**
   * Revisions have no gaps unless events are hidden: by a delete, or by metadata that streams of ours never have. One
   * that was deleted is not there, and one that was written anew after it is whole: its events themselves show that.
   */
  async #refuseTruncated (stream: string, isEmpty: boolean): Promise<void> {
    const limit = await this.limitOf(stream)
    if (limit && limit !== 'deleted' && (limit !== '$tb' || isEmpty)) throw new StreamTruncated(stream, limit)
  }

  /** False when there is no such stream, or none any more. */
  async #each (
    stream: string, options: ReadStreamOptions, withinMs: number, take: (event: StoredEvent) => void
  ): Promise<boolean> {
    let refused: { error: unknown } | undefined
    let isTaking = false // then another try would hand the same events over again
    const takeOrNote = (event: StoredEvent) => {
      isTaking = true
      try {
        take(event)
      } catch (error) {
        refused = { error }
        throw error
      }
    }
    try {
      await this.connection.onLeader(async (session) => {
        const reading = session.client.readStream(stream, { ...options, requiresLeader })
        await deliver(session, reading, withinMs, ({ event }) => { if (event) takeOrNote(toStoredEvent(event)) })
          .catch((error: unknown) => { throw isTaking ? refused?.error ?? readError(error) : error })
      })
      return true
    } catch (error) {
      if (refused) throw refused.error
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return false
      throw readError(error)
    }
  }
}

/** Everything that a read of `session` delivers. @throws as `deliver` */
export async function collect<Item> (session: Session, reading: StreamingRead<Item>, ms: number): Promise<Item[]> {
  const items: Item[] = []
  await deliver(session, reading, ms, (item) => { items.push(item) })
  return items
}

/**
 * Hands over what a read delivers, item by item, as it arrives. The client itself would wait for ever.
 * @throws the error of the read, NoAnswer when nothing comes for `ms`, why the session was abandoned, or what `take`
 *   throws, which ends the read
 */
export async function deliver<Item> (
  session: Session, reading: StreamingRead<Item>, ms: number, take: (item: Item) => void
): Promise<void> {
  const stream: Readable = reading
  const end = (error: Error) => {
    reading.destroy(error)
    reading.cancel().catch(() => {}) // the read never began
  }
  const patience = setTimeout(() => end(new NoAnswer(ms)), ms)
  const stay = session.untilAbandoned(end)
  reading.on('data', (item: Item) => {
    if (reading.destroyed) return
    patience.refresh()
    session.heard()
    try {
      take(item)
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)))
    }
  })
  try {
    await finished(stream)
    session.heard()
  } catch (error) {
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) session.heard()
    throw error
  } finally {
    clearTimeout(patience)
    stay()
  }
}

/** `deleted` is a plain delete: an append brings the stream back, without its earlier events. */
export type Limit = '$maxCount' | '$maxAge' | '$tb' | 'deleted'

const names = ['$maxCount', '$maxAge', '$tb'] as const

/** Where a delete lets a stream begin: the last revision that there can be, which JSON.parse rounds up. */
const neverReached = 2 ** 63

export function limitIn (metadata: unknown): Limit | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined
  if ('$tb' in metadata && metadata.$tb === neverReached) return 'deleted'
  return names.find((name) => Object.hasOwn(metadata, name))
}

/** The bytes of a part. Its last event may go beyond them, by the megabyte that an event has at most. */
const mostBytes = 4 * 2 ** 20
const mostEvents = 100

export interface Range { from: bigint, to: bigint }

/** The events of a stream between two revisions, in order; a part is never empty. @throws EventStoreUnavailable */
export async function * readParts (
  streams: Pick<Reader, 'visit'>, stream: string, { from, to }: Range
): AsyncGenerator<StoredEvent[]> {
  for (let next = from; next <= to;) {
    const wanted = to - next + 1n
    const { events } = await readPart(streams, stream, next, wanted < mostEvents ? Number(wanted) : mostEvents)
    const last = events.at(-1)
    if (!last) return
    yield events
    next = last.revision + 1n
  }
}

/** Those of some revisions, in order, that no erasure has hidden: it hides all that is before it. */
export async function notHidden (
  streams: Pick<Reader, 'visit'>, stream: string, revisions: readonly bigint[]
): Promise<bigint[]> {
  let first: bigint | undefined
  await streams.visit(stream, revisions[0] ?? 0n, ({ revision }) => { first ??= revision }, 1)
  return revisions.filter((revision) => revision >= (first ?? 0n))
}

/** Ends a read. */
class Full extends Error {}

/** `isFull`: the part has all its bytes, and the stream may have more. `isThere` is what `visit` answers. */
export interface ReadPart { events: StoredEvent[], isThere: boolean, isFull: boolean }

/** The events of a stream from a revision on, as many as fit into a part. @throws EventStoreUnavailable */
export async function readPart (
  streams: Pick<Reader, 'visit'>, stream: string, from: bigint, most: number
): Promise<ReadPart> {
  const events: StoredEvent[] = []
  let bytes = 0
  const take = (event: StoredEvent) => {
    events.push(event)
    bytes += sizeOf(event.data)
    if (bytes >= mostBytes) throw new Full()
  }
  try {
    return { events, isThere: await streams.visit(stream, from, take, most), isFull: false }
  } catch (error) {
    if (!(error instanceof Full)) throw error
    return { events, isThere: true, isFull: true }
  }
}
