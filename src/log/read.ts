// Reads streams and the head of the log. Decisions depend on these reads, so only the leader answers them.
import {
  BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError, type ReadAllOptions, type ReadStreamOptions,
  type StreamingRead
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import type { EventStoreConnection, Session } from './connection.js'
import { readError, StreamTruncated, NoAnswer } from './errors.js'
import { bytesOf, toStoredEvent } from './stored.js'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

const requiresLeader = true

/** Limits one part. Its last event may exceed that, by at most the megabyte that an event may have. */
const mostBytes = 4 * 2 ** 20

/** `isFull`: the limit was reached, so the stream may have more. `isThere`: false also for a deleted stream. */
interface Part { events: StoredEvent[], isThere: boolean, isFull: boolean }

export class Reader {
  constructor (private readonly connection: EventStoreConnection, private readonly answerWithinMs: number) {}

  /**
   * Events of a stream from a revision on, as many as fit into a part.
   * @throws EventStoreUnavailable, StreamTruncated
   */
  async part (stream: string, fromRevision: bigint, maxCount: number, withinMs = this.answerWithinMs): Promise<Part> {
    const part = await this.#part(stream, { direction: FORWARDS, fromRevision, maxCount }, withinMs)
    const isEmpty = part.events.length === 0
    const hasGap = part.events.some(({ revision }, index) => revision !== fromRevision + BigInt(index))
    if (hasGap || (isEmpty && fromRevision === 0n)) await this.#refuseTruncated(stream, isEmpty)
    return part
  }

  async last (stream: string): Promise<StoredEvent | undefined> {
    const options = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const
    return (await this.#part(stream, options, this.answerWithinMs)).events[0]
  }

  async head (): Promise<bigint> {
    const newest = await this.#firstOfAll({ direction: BACKWARDS, fromPosition: END })
    return newest?.commitPosition ?? newest?.event?.position.commit ?? 0n
  }

  /** The id of the event at a position up to the head; undefined when a scavenge removed it. */
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
   * A gap in the revisions means hidden events: by a delete, or by metadata that our streams never have. A deleted
   * stream counts as missing, and one written anew after a delete as whole: its events themselves show that.
   */
  async #refuseTruncated (stream: string, isEmpty: boolean): Promise<void> {
    const limit = await this.limitOf(stream)
    if (limit && limit !== 'deleted' && (limit !== '$tb' || isEmpty)) throw new StreamTruncated(stream, limit)
  }

  async #part (stream: string, options: ReadStreamOptions, withinMs: number): Promise<Part> {
    try {
      return await this.connection.onLeader(async (session) => {
        const events: StoredEvent[] = []
        let bytes = 0
        const reading = session.client.readStream(stream, { ...options, requiresLeader })
        await deliver(session, reading, withinMs, ({ event }) => {
          if (!event) return true
          const stored = toStoredEvent(event)
          events.push(stored)
          bytes += bytesOf(stored)
          return bytes < mostBytes
        })
        return { events, isThere: true, isFull: bytes >= mostBytes }
      })
    } catch (error) {
      if (!(error instanceof StreamNotFoundError || error instanceof StreamDeletedError)) throw readError(error)
      return { events: [], isThere: false, isFull: false }
    }
  }
}

/** A call of the generated clients that has one answer. */
export const unary = <Answer>(call: (done: (error: Error | null, answer: Answer) => void) => void): Promise<Answer> =>
  new Promise((resolve, reject) => call((error, answer) => error ? reject(error) : resolve(answer)))

/** @throws as `deliver` */
export async function collect<Item> (session: Session, reading: StreamingRead<Item>, ms: number): Promise<Item[]> {
  const items: Item[] = []
  await deliver(session, reading, ms, (item) => items.push(item) > 0)
  return items
}

/**
 * Passes the items of a read to `take` as they arrive, until it returns false. The client itself has no deadline.
 * @throws the error of the read, NoAnswer when nothing comes for `ms`, or why the session was abandoned
 */
export async function deliver<Item> (
  session: Session, reading: StreamingRead<Item>, ms: number, take: (item: Item) => boolean
): Promise<void> {
  const stream: Readable = reading
  const enough = new Error('no more is wanted')
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
    if (!take(item)) end(enough)
  })
  try {
    await finished(stream)
    session.heard()
  } catch (error) {
    if (error === enough) return
    if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) session.heard()
    throw error
  } finally {
    clearTimeout(patience)
    stay()
  }
}

/** `deleted` is a soft delete: an append brings the stream back, without its earlier events. */
export type Limit = '$maxCount' | '$maxAge' | '$tb' | 'deleted'

const names = ['$maxCount', '$maxAge', '$tb'] as const

/** A soft delete sets `$tb` to 2^63-1, which JSON.parse rounds up. */
const neverReached = 2 ** 63

function limitIn (metadata: unknown): Limit | undefined {
  if (typeof metadata !== 'object' || metadata === null) return undefined
  if ('$tb' in metadata && metadata.$tb === neverReached) return 'deleted'
  return names.find((name) => Object.hasOwn(metadata, name))
}
