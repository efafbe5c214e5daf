// Reads streams and the end of the log. What is read decides something, so it is read from the leader alone.
import {
  BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError, type ReadStreamOptions
} from '@eventstore/db-client'
import type { StoredEvent } from '../../domain/stored-event.js'
import { collect, deliver } from './collect.js'
import type { EventStoreConnection } from '../connection/connection.js'
import { readError, StreamTruncated } from '../errors.js'
import { toStoredEvent } from '../stored.js'
import { limitIn, type Limit } from './limit.js'

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
    try {
      const [newest] = await this.connection.onLeader(async (session) => {
        const options = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader } as const
        return await collect(session, session.client.readAll(options), this.answerWithinMs)
      })
      return newest?.commitPosition ?? newest?.event?.position.commit ?? 0n
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
