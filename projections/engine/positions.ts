// How far read models and the dispatcher have come, and calls that wait until they have passed a position of the log.
import type { Pool } from 'pg'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { joinRunning } from '../../src/timing.js'
import { awaitedChannel, checkpointChannel, hasSetApartSql, activeCheckpoint } from './generations.js'

/** The read model has not come as far as the log was when a fact was missing: whether it exists is not known. */
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
  /** Projections that have to catch up with the log before ids are given out: they raise the sequences. */
  raising?: readonly string[]
}

interface Seen {
  position: bigint
  /** Up to there nothing is parked or was skipped. */
  isWhole: boolean
}

/** What this process knows of one checkpoint. */
interface Known extends Seen {
  /** Calls at one time share one look. */
  look (): Promise<bigint | undefined>
  /** As the last look found it: it is filled for the first time, and no row of it may be shown. */
  isHidden: boolean
  lookedAt: number
}

interface Waiter { known: Known, position: bigint, isLate: boolean, settle (isReached: boolean): void }

const unknown = { position: -1n, isWhole: false, lookedAt: -Infinity }
/** Between two looks at a checkpoint that calls wait for: a notification may be lost, and the dispatcher sends none. */
const lookEveryMs = 100
/** Between two announcements of a process that calls wait in vain. */
const announceEveryMs = 500
/** A look that takes longer is given up: the next one takes another connection. */
const lookWithinMs = 2_000
/** Positions are looked up meanwhile: so long a probe waits, and a creation, however short answers wait. */
const probeMs = 500
/** Those who look again anyway wait so long. */
const lateMs = 1_000

/** A source is a projection, by its name, or the dispatcher as `deliveries`. Nothing runs before the first question. */
export class Positions {
  readonly waitMs: number
  readonly #sources = new Map<string, Known>()
  readonly #waiters = new Set<Waiter>()
  #listening: Listener | undefined
  /** Runs exactly while somebody waits. */
  #clock: NodeJS.Timeout | undefined
  #announcedAt = -Infinity
  /** How many times all positions were forgotten. */
  #forgotten = 0
  #isFailing = false
  #isClosed = false
  #start: bigint | undefined
  #isCaughtUp = false
  #otherLog: () => Error | undefined = () => undefined

  constructor (private readonly options: PositionsOptions) {
    this.waitMs = options.waitMs ?? 1_000
  }

  /** Positions of a log that has gone back say nothing: while there is such a problem, nobody waits for one. */
  refuseWhile (otherLog: () => Error | undefined): void {
    this.#otherLog = otherLog
  }

  /**
   * True as soon as readers see `source` at `position` or later; false when `withinMs` is over first.
   * @throws OtherLog
   */
  async reached (source: string, position: bigint, withinMs = this.waitMs): Promise<boolean> {
    const otherLog = this.#otherLog()
    if (otherLog) throw otherLog
    const known = this.#of(source)
    if (known.position >= position) return true
    if (this.#isClosed) return false
    if (source !== 'deliveries') this.#listener() // from now on
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
          if (this.#waiters.size === 0) this.#stopClock()
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

  /** Which of the sources have not passed the position. */
  async late (sources: readonly string[], position: bigint, withinMs = lateMs): Promise<string[]> {
    const passed = await Promise.all(sources.map((source) => this.reached(source, position, withinMs)))
    return sources.filter((_source, nth) => !passed[nth])
  }

  /**
   * A position that readers of `source` are past already: never ahead of what a query that starts now can see. Nothing
   * while the read model is filled for the first time: then no row of it may be shown.
   */
  async passed (source: string): Promise<bigint | undefined> {
    const known = this.#of(source)
    const isCurrent = source === 'deliveries' ? wasLookedAt(known) : this.#listener().isListening()
    if (known.position < 0n && known.isHidden && wasLookedAt(known)) return undefined
    return known.position >= 0n && isCurrent ? known.position : await this.#look(known)
  }

  /**
   * What `find` finds in `source`. A fact that is there costs one look-up; one that is missing counts as missing once
   * the source is level with the log.
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
   * Whether ids may be given out: what raises the sequences has passed what the log held when this was first asked.
   * Once true it stays true, also where positions begin anew.
   * @throws EventStoreUnavailable
   */
  async isCaughtUp (withinMs = Math.max(this.waitMs, probeMs)): Promise<boolean> {
    if (this.#isCaughtUp) return true
    const start = this.#start ??= await this.options.head()
    const { raising = [] } = this.options
    return this.#isCaughtUp ||= (await this.late(raising, start, withinMs)).length === 0
  }

  /** @throws while nothing is created, as ids are not given out */
  async assertCaughtUp (): Promise<void> {
    if (await this.isCaughtUp(probeMs)) return
    throw new Error('no id is given out, and so nothing created, before the read models have passed position ' +
      `${this.#start}, where the log ended when this process started`)
  }

  /** Rows at the last position that was reached say all that events up to it say: none is parked or was skipped. */
  isWhole (source: string): boolean {
    return this.#of(source).isWhole
  }

  /** From now on nobody waits. */
  close (): void {
    this.#isClosed = true
    for (const waiter of this.#waiters) waiter.settle(false)
    this.#listening?.close()
  }

  #of (source: string): Known {
    const known = this.#sources.get(source)
    if (known) return known
    const { pool } = this.options
    const added: Known = {
      ...unknown,
      isHidden: false,
      look: joinRunning(async () => {
        let seen: Seen | undefined
        let forgotten: number
        do {
          forgotten = this.#forgotten
          seen = source === 'deliveries'
            ? { position: await readCheckpoint(pool, 'ledger.dispatcher_checkpoint', lookWithinMs), isWhole: true }
            : await readVisible(pool, source)
        } while (forgotten !== this.#forgotten) // it may have seen what was replaced meanwhile
        added.isHidden = seen === undefined
        if (seen) this.#advance(added, seen)
        return seen?.position
      })
    }
    this.#sources.set(source, added)
    return added
  }

  #listener (): Listener {
    return this.#listening ??= this.options.notifications.listen(checkpointChannel, {
      onListening: () => this.#forget(),
      onNotification: (payload) => {
        if (payload === 'replaced') return this.#forget() // positions of before mean nothing
        const [, source, position, parked] = /^(\w+) (\d+)( parked)?$/.exec(payload) ?? []
        if (source === undefined || position === undefined) return
        this.#advance(this.#of(source), { position: BigInt(position), isWhole: parked === undefined })
      }
    })
  }

  /** Notifications may have been missed: calls that wait look for themselves. */
  #forget (): void {
    this.#forgotten += 1
    for (const known of this.#sources.values()) Object.assign(known, unknown)
    for (const { known } of this.#waiters) this.#lookAgain(known)
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
    // A subscription whose log goes on without an event for it looks where the log ends. It does so later, unasked.
    this.options.pool.query(`NOTIFY ${awaitedChannel}`).catch(() => {})
  }

  #stopClock (): void {
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  #lookAgain (known: Known): void {
    if (wasLookedAt(known)) return
    this.#look(known).then(() => { this.#isFailing = false }, (error: Error) => {
      if (!this.#isFailing) this.options.onError(error)
      this.#isFailing = true
    })
  }

  async #look (known: Known): Promise<bigint | undefined> {
    known.lookedAt = performance.now()
    return await known.look()
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
