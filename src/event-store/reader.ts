// Reads streams and the end of the log, and remembers when the store answered last.
import {
  BACKWARDS, END, FORWARDS, StreamDeletedError, StreamNotFoundError, type EventStoreDBClient, type ReadStreamOptions
} from '@eventstore/db-client'
import type { StoredEvent } from '../domain/stored-event.js'
import { collect } from './collect.js'
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

  async readTail (stream: string, fromRevision: bigint): Promise<StoredEvent[] | undefined> {
    const options = { direction: FORWARDS, fromRevision } as const
    return await this.#events(stream, options, this.answerWithinMs)
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
    try {
      const resolved = await collect(this.client.readStream(stream, options), withinMs)
      this.heardAt = Date.now()
      return resolved.flatMap(({ event }) => event ? [toStoredEvent(event)] : [])
    } catch (error) {
      if (error instanceof StreamNotFoundError || error instanceof StreamDeletedError) return undefined
      throw readError(error)
    }
  }
}
