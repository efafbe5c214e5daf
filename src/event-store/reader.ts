// Reads streams and the end of the log, and remembers when the store answered last.
import {
  BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError, type EventStoreDBClient, type ReadStreamOptions
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { collect, deliver } from './collect.js'
import { readError } from './errors.js'
import { toStoredEvent } from './stored.js'

export class Reader {
  /** When the store answered a read or an append last, in Unix milliseconds. */
  heardAt = 0

  constructor (private readonly client: EventStoreDBClient, private readonly answerWithinMs: number) {}

  async read (
    stream: string, fromRevision = 0n, maxCount = Number.MAX_SAFE_INTEGER, withinMs = this.answerWithinMs
  ): Promise<StoredEvent[]> {
    return await this.#events(stream, { direction: FORWARDS, fromRevision, maxCount }, withinMs) ?? []
  }

  async visit (
    stream: string, fromRevision: bigint, take: (event: StoredEvent) => void, maxCount = Number.MAX_SAFE_INTEGER
  ): Promise<boolean> {
    const options = { direction: FORWARDS, fromRevision, maxCount } as const
    return await this.#each(stream, options, this.answerWithinMs, take)
  }

  async last (stream: string): Promise<StoredEvent | undefined> {
    const options = { direction: BACKWARDS, fromRevision: END, maxCount: 1 } as const
    const [newest] = await this.#events(stream, options, this.answerWithinMs) ?? []
    return newest
  }

  async head (): Promise<bigint> {
    try {
      const reading = this.client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
      const [newest] = await collect(reading, this.answerWithinMs)
      this.heardAt = Date.now()
      return newest?.commitPosition ?? newest?.event?.position.commit ?? 0n
    } catch (error) {
      throw readError(error)
    }
  }

  /** Nothing when there is no such stream, or none any more. */
  async #events (
    stream: string, options: ReadStreamOptions, withinMs: number
  ): Promise<StoredEvent[] | undefined> {
    const events: StoredEvent[] = []
    const isThere = await this.#each(stream, options, withinMs, (event) => { events.push(event) })
    return isThere ? events : undefined
  }

  /** False when there is no such stream, or none any more. */
  async #each (
    stream: string, options: ReadStreamOptions, withinMs: number, take: (event: StoredEvent) => void
  ): Promise<boolean> {
    let refused: { error: unknown } | undefined
    try {
      await deliver(this.client.readStream(stream, options), withinMs, ({ event }) => {
        try {
          if (event) take(toStoredEvent(event))
        } catch (error) {
          refused = { error }
          throw error
        }
      })
      this.heardAt = Date.now()
      return true
    } catch (error) {
      if (refused) throw refused.error
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return false
      throw readError(error)
    }
  }
}
