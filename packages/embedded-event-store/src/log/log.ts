// The log: appends through one writer, reads through a few connections, and recovery after Postgres was away.
import { setTimeout as delay } from 'node:timers/promises'
import type { Feed } from '../feed.js'
import { LogReader } from './reader.js'
import { Scavenger } from './scavenger.js'
import { SchemaInUse, type Session, type Storage } from './session.js'
import { LogWentBack, Writer } from './writer.js'

/** In ms. After a lost connection, Postgres may keep the former session and its lock until it detects the loss. */
const patience = { atStart: 3_000, afterLoss: 20_000 }

export class EventLog {
  readonly writer: Writer
  readonly reader: LogReader
  readonly scavenger: Scavenger
  #session: Session | undefined
  #isClosed = false
  #lose: (error: Error) => void = () => {}
  /** Resolves when another server took the schema, or Postgres lost events: this log can never write again. */
  readonly lost = new Promise<Error>((resolve) => { this.#lose = resolve })

  private constructor (
    private readonly storage: Storage, private readonly feed: Feed, private readonly say: (line: string) => void
  ) {
    this.writer = new Writer(storage.table, (events) => { feed.committed(events) })
    this.reader = new LogReader(storage, this.writer)
    this.scavenger = new Scavenger(storage, this.writer, (positions) => { feed.removed(positions) })
  }

  /**
   * Opens the log, which owns `storage` from now on.
   * @param say receives messages for people
   * @throws SchemaInUse, or the error of a Postgres that cannot be reached
   */
  static async open (storage: Storage, feed: Feed, say: (line: string) => void): Promise<EventLog> {
    const log = new EventLog(storage, feed, say)
    try {
      await log.#open(patience.atStart)
    } catch (error) {
      await storage.readers.end()
      throw error
    }
    return log
  }

  async close (): Promise<void> {
    this.#isClosed = true
    this.writer.detach()
    await this.#session?.client.end().catch(() => {})
    await this.storage.readers.end()
  }

  async #open (lockPatience: number): Promise<void> {
    const session = await this.storage.openSession(lockPatience)
    this.#session = session
    try {
      if (this.#isClosed) throw new Error('The log was closed meanwhile')
      await this.writer.attach(session)
    } catch (error) {
      await session.client.end().catch(() => {}) // it holds the lock that the next session needs
      throw error
    }
    this.feed.reopened(this.writer.head)
    void session.ended.then((error) => this.#afterLoss(error)) // not awaited: ends with the next session or with `lost`
  }

  async #afterLoss (error: Error): Promise<void> {
    this.writer.detach()
    if (this.#isClosed) return
    this.say(`Postgres is gone (${error.message}); appends are refused until it is back`)
    for (let wait = 50; !this.#isClosed; wait = Math.min(wait * 2, 1_000)) {
      const failure = await this.#open(patience.afterLoss).then(() => undefined, (reason: unknown) => reason)
      if (failure === undefined) return this.say('Postgres is back; appends go on')
      if (failure instanceof SchemaInUse || failure instanceof LogWentBack) return this.#lose(failure)
      await delay(wait)
    }
  }
}
