// Follows the checkpoints of read models and the dispatcher, and lets calls wait until one reaches a position.
import type { Pool } from 'pg'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { joinRunning } from '../../src/timing.js'
import { awaitedChannel, checkpointChannel, hasSetApartSql, activeCheckpoint } from './generations.js'

/** The read model has not caught up with the log, so a fact that it lacks may exist. */
export class NotKnownYet extends Error {
  override readonly name = 'NotKnownYet'
}

export interface PositionsOptions {
  notifications: Notifications
  pool: Pool
  /** Gets the first of several failures in a row. */
  onError (error: Error): void
  /** The position of the newest event in the log. */
  head (): Promise<bigint>
  /** How long an answer waits for readers to see a position, in milliseconds. */
  waitMs?: number
  /** Projections that raise sequences: they must catch up with the log before ids are given out. */
  raising?: readonly string[]
  /** While it returns an error, `reached` throws it: positions mean nothing once the log has gone back. */
  otherLog? (): Error | undefined
}

interface Seen {
  position: bigint
  /** No event up to there is parked or skipped. */
  isWhole: boolean
}

/** What this process knows of one checkpoint. */
interface Known extends Seen {
  /** Concurrent calls share one query. */
  look (): Promise<bigint | undefined>
  /** The last look found its first fill running: no row of it may be shown. */
  isHidden: boolean
  lookedAt: number
}

interface Waiter { known: Known, position: bigint, isLate: boolean, settle (isReached: boolean): void }

const unknown = { position: -1n, isWhole: false, lookedAt: -Infinity }
/** Polls checkpoints that calls wait for: a notification may be lost, and the dispatcher sends none. */
const lookEveryMs = 100
/** Between two announcements that calls wait in vain. */
const announceEveryMs = 500
/** Timeout of a look; the next one takes another connection. */
const lookWithinMs = 2_000
/** How long a probe or a creation waits for positions, even if `waitMs` is shorter. */
const probeMs = 500
/** The wait of callers that ask again anyway. */
const lateMs = 1_000

/** A source is the name of a projection, or `deliveries` for the dispatcher. Nothing runs before the first call. */
export class Positions {
  readonly waitMs: number
  readonly #sources = new Map<string, Known>()
  readonly #waiters = new Set<Waiter>()
  #listening: Listener | undefined
  /** Runs only while calls wait. */
  #clock: NodeJS.Timeout | undefined
  #announcedAt = -Infinity
  /** How many times all positions were forgotten. */
  #forgotten = 0
  #isFailing = false
  #isClosed = false
  #start: bigint | undefined
  #isCaughtUp = false

  constructor (private readonly options: PositionsOptions) {
    this.waitMs = options.waitMs ?? 1_000
  }

  /**
   * True as soon as readers see `source` at `position` or later; false when `withinMs` is over first.
   * @throws OtherLog
   */
  async reached (source: string, position: bigint, withinMs = this.waitMs): Promise<boolean> {
    const otherLog = this.options.otherLog?.()
    if (otherLog) throw otherLog
    const known = this.#of(source)
    if (known.position >= position) return true
    if (this.#isClosed) return false
    if (source !== 'deliveries') this.#listener() // starts listening
    if (source === 'deliveries' || known.position < 0n) this.#lookAgain(known)
    return await new Promise((resolve) => {
      const timer = setTimeout(() => waiter.settle(false), withinMs)
      const waiter: Waiter = {
        known,
        position,
        isLate: false,
        settle: (isReached) => {
          clearTimeout(timer)
          this.#waiters.delete(waiter)
          if (this.#waiters.size === 0) {
            clearInterval(this.#clock)
            this.#clock = undefined
          }
          resolve(isReached)
        }
      }
      this.#waiters.add(waiter)
      this.#clock ??= setInterval(() => this.#tick(), lookEveryMs)
    })
  }

  /**
   * Whether readers see what the event at a position says: `late` when `withinMs` is over first, `parked` while it
   * waits for an operator. @throws OtherLog
   */
  async projected (source: string, position: bigint, withinMs?: number): Promise<'seen' | 'late' | 'parked'> {
    if (!await this.reached(source, position, withinMs)) return 'late'
    return this.isWhole(source) || !await isParked(this.options.pool, source, position) ? 'seen' : 'parked'
  }

  /** The sources that do not reach the position in time. */
  async late (sources: readonly string[], position: bigint, withinMs = lateMs): Promise<string[]> {
    const passed = await Promise.all(sources.map((source) => this.reached(source, position, withinMs)))
    return sources.filter((_source, nth) => !passed[nth])
  }

  /**
   * A position that readers of `source` have reached: never ahead of what a query that starts now can see. Nothing
   * during the first fill of a read model, when no row of it may be shown.
   */
  async passed (source: string): Promise<bigint | undefined> {
    const known = this.#of(source)
    const isCurrent = source === 'deliveries' ? wasLookedAt(known) : this.#listener().isListening()
    if (known.position < 0n && known.isHidden && wasLookedAt(known)) return undefined
    return known.position >= 0n && isCurrent ? known.position : await known.look()
  }

  /**
   * Looks up a fact in `source`. If it is missing, waits until the source has caught up with the log, then looks once
   * more.
   * @throws NotKnownYet, OtherLog, EventStoreUnavailable, and what `find` throws
   */
  async orNotKnown<Fact> (
    source: string, find: () => Promise<Fact>, isThere: (fact: Fact) => boolean = (fact) => fact !== undefined
  ): Promise<Fact> {
    if (await this.passed(source) === undefined) throw new NotKnownYet(`the read model ${source} is being filled`)
    const found = await find()
    if (isThere(found)) return found
    const head = await this.options.head()
    if (await this.reached(source, head)) return await find()
    throw new NotKnownYet(`the read model ${source} has not reached position ${head}, so what it lacks may be there`)
  }

  /**
   * Whether ids may be given out: the `raising` projections have passed the head that the log had at the first call.
   * Once true it stays true, even after positions are forgotten.
   * @throws EventStoreUnavailable
   */
  async isCaughtUp (withinMs = Math.max(this.waitMs, probeMs)): Promise<boolean> {
    if (this.#isCaughtUp) return true
    const start = this.#start ??= await this.options.head()
    const { raising = [] } = this.options
    return this.#isCaughtUp ||= (await this.late(raising, start, withinMs)).length === 0
  }

  /** @throws while ids may not be given out, so that nothing can be created */
  async assertCaughtUp (): Promise<void> {
    if (await this.isCaughtUp(probeMs)) return
    throw new Error('no id is given out, and so nothing created, before the read models have passed position ' +
      `${this.#start}, where the log ended when this process started`)
  }

  /** Whether rows at the last known position lack nothing: no event up to it is parked or skipped. */
  isWhole (source: string): boolean {
    return this.#of(source).isWhole
  }

  /** Ends all waits; later calls do not wait. */
  close (): void {
    this.#isClosed = true
    for (const waiter of this.#waiters) waiter.settle(false)
    this.#listening?.close()
  }

  #of (source: string): Known {
    const known = this.#sources.get(source)
    if (known) return known
    const { pool } = this.options
    const look = joinRunning(async () => {
      let seen: Seen | undefined
      let forgotten: number
      do {
        forgotten = this.#forgotten
        seen = source === 'deliveries'
          ? { position: await readCheckpoint(pool, 'ledger.dispatcher_checkpoint', lookWithinMs), isWhole: true }
          : await readVisible(pool, source)
      } while (forgotten !== this.#forgotten) // a swap may have replaced what it saw
      added.isHidden = seen === undefined
      if (seen) this.#advance(added, seen)
      return seen?.position
    })
    const added: Known = {
      ...unknown,
      isHidden: false,
      look () {
        added.lookedAt = performance.now()
        return look()
      }
    }
    this.#sources.set(source, added)
    return added
  }

  #listener (): Listener {
    return this.#listening ??= this.options.notifications.listen(checkpointChannel, {
      onListening: () => this.#forget(),
      onNotification: (payload) => {
        if (payload === 'replaced') return this.#forget() // earlier positions mean nothing
        const [, source, position, parked] = /^(\w+) (\d+)( parked)?$/.exec(payload) ?? []
        if (source === undefined || position === undefined) return
        this.#advance(this.#of(source), { position: BigInt(position), isWhole: parked === undefined })
      }
    })
  }

  /** Notifications may have been missed: the next tick looks again for calls that wait. */
  #forget (): void {
    this.#forgotten += 1
    for (const known of this.#sources.values()) Object.assign(known, unknown)
  }

  #advance (known: Known, seen: Seen): void {
    if (seen.position <= known.position) return
    Object.assign(known, seen)
    for (const waiter of this.#waiters) {
      if (waiter.known === known && waiter.position <= seen.position) waiter.settle(true)
    }
  }

  #tick (): void {
    const isLate = [...this.#waiters].some((waiter) => waiter.isLate)
    for (const waiter of this.#waiters) {
      waiter.isLate = true
      this.#lookAgain(waiter.known)
    }
    if (!isLate || performance.now() < this.#announcedAt + announceEveryMs) return
    this.#announcedAt = performance.now()
    // An idle subscription then checks where the log ends. Without a request it does so later.
    this.options.pool.query(`NOTIFY ${awaitedChannel}`).catch(() => {})
  }

  #lookAgain (known: Known): void {
    if (wasLookedAt(known)) return
    known.look().then(() => { this.#isFailing = false }, (error: Error) => {
      if (!this.#isFailing) this.options.onError(error)
      this.#isFailing = true
    })
  }
}

const wasLookedAt = ({ lookedAt }: Known) => performance.now() - lookedAt < lookEveryMs * 0.9 // timers come early

/** Where readers see the projection; nothing while its first fill runs. */
async function readVisible (pool: Pool, projection: string): Promise<Seen | undefined> {
  const schema = "'read_' || generations.projection || '_g' || generations.generation" // as `schemaOf`
  const text = `
    SELECT position, NOT ${hasSetApartSql(schema, '$1')} AS is_whole
    FROM ${activeCheckpoint(projection)}, ledger.generations
    WHERE projection = $1 AND state = 'active' AND position >= visible_from`
  const query = { text, values: [projection], query_timeout: lookWithinMs }
  const { rows: [row] } = await pool.query<{ position: string, is_whole: boolean }>(query)
  return row && { position: BigInt(row.position), isWhole: row.is_whole }
}

async function isParked (pool: Pool, projection: string, position: bigint): Promise<boolean> {
  const { rowCount } = await pool.query(`
    SELECT FROM ledger.generations JOIN ledger.parked_events ON consumer = 'read_' || projection || '_g' || generation
    WHERE projection = $1 AND state = 'active' AND position = $2 LIMIT 1`, [projection, position])
  return rowCount === 1
}
