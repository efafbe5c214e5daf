// Owns the client of the event store: every call goes through its present session, which it replaces when it is lost.
import { convertToCommandError, NotLeaderError } from '@eventstore/db-client'
import { EventStoreUnavailable, isOfConnection, NoAnswer, saysNotReady } from '../errors.js'
import { clientUrl } from './client-url.js'
import { Session, type Endpoint } from './session.js'

export interface ConnectionOptions {
  /** A member that leaves every call unanswered for so long is given up, in milliseconds. */
  silentAfterMs?: number
}

const usualSilentAfterMs = 4_000

/** A session younger than this is not replaced again: what fails on it failed on the one before as well. */
const youngMs = { lost: 100, notReady: 1_000 }

const closed = 'the connection to the event store was closed'

export class EventStoreConnection {
  readonly #url: string
  readonly #silentAfterMs: number
  #session: Session | undefined
  #isClosed = false

  constructor (url: string, { silentAfterMs = usualSilentAfterMs }: ConnectionOptions = {}) {
    this.#url = clientUrl(url)
    this.#silentAfterMs = silentAfterMs
  }

  /** The present client. Nothing is sent before it is used. @throws EventStoreUnavailable once it was closed */
  get session (): Session {
    if (this.#isClosed) throw new EventStoreUnavailable(closed) // one that is opened now would never end
    return this.#session ??= this.#open()
  }

  /** For work on the leader alone: once more when another member turns out to lead. */
  async onLeader<Result> (work: (session: Session) => Promise<Result>): Promise<Result> {
    try {
      return await this.#watched(work)
    } catch (error) {
      if (error instanceof NotLeaderError) return await this.#watched(work)
      throw error
    }
  }

  async close (): Promise<void> {
    const session = this.#session
    this.#isClosed = true
    this.#session = undefined
    await session?.abandon(new Error(closed))
  }

  async #watched<Result> (work: (session: Session) => Promise<Result>): Promise<Result> {
    const session = this.session
    try {
      return await work(session)
    } catch (error) {
      if (error instanceof NoAnswer) this.#abandonIfSilent(session)
      if (error instanceof EventStoreUnavailable || error instanceof NotLeaderError) this.#failed(session, error)
      throw error
    }
  }

  #open (leader?: Endpoint): Session {
    return new Session({ url: this.#url, leader, onFailure: (session, error) => this.#failed(session, error) })
  }

  #failed (session: Session, failure: Error): void {
    const error = convertToCommandError(failure)
    if (error instanceof NotLeaderError) return this.#replace(session, error.leader)
    const youngest = saysNotReady(error.message) ? youngMs.notReady : youngMs.lost
    if (isOfConnection(error) && session.ageMs >= youngest) this.#replace(session)
  }

  /** What is under way on the old session goes on: the call that failed may be the only one. */
  #replace (session: Session, leader?: Endpoint): void {
    if (session !== this.#session) return
    this.#session = leader && this.#open(leader)
    session.retire()
  }

  #abandonIfSilent (session: Session): void {
    if (session !== this.#session || session.silentForMs < this.#silentAfterMs) return
    this.#session = undefined
    void session.abandon(new EventStoreUnavailable('the event store was silent for too long'))
  }
}
