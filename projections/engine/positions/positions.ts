// Lets readers wait until a projection, or another subscription, has passed a position of the log.
import type { Pool } from 'pg'
import type { Listener, Notifications } from '../../../src/postgres/notifications/notifications.js'
import { readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { announceAwaited, readVisible, readWithinMs } from './active-positions.js'
import { listenForCheckpoints } from './checkpoint-listener.js'
import { KnownPosition } from './known-position.js'

export interface Positions {
  /** True as soon as readers see `source` at `position` or later; false when `withinMs` is over first. */
  reached (source: string, position: bigint, withinMs: number): Promise<boolean>
  /**
   * A position that readers of `source` are past already: never ahead of what a query that starts now can see. Nothing
   * while the read model is filled for the first time: then no row of it may be shown.
   */
  passed (source: string): Promise<bigint | undefined>
  /** Rows at the last position that was reached say all that events up to it say: none is parked or was skipped. */
  isWhole (source: string): boolean
  /** The furthest position of a source that this process knows: the log came as far. Below zero for none. */
  furthest (): bigint
  close (): void
}

export interface PositionsOptions {
  /** Checkpoint tables of subscriptions that notify nobody, by the name of their source. All others are projections. */
  polled?: Readonly<Record<string, string>>
}

/** One clock serves all waiting calls; deadlines are exact to this. */
const tickMs = 20
/** Between two look-ups of a projection that calls wait for. */
const checkMs = 100
/** Between two announcements that calls wait, of a process. */
const announceMs = 500
/** Between two look-ups of a source that notifies nobody. */
const pollMs = 50

/**
 * Learns positions from notifications, from the first question on. One can be lost, so while calls wait for a
 * projection its checkpoint is also looked up every 100 ms, once for all of them.
 */
export const listenForPositions = (
  notifications: Notifications, pool: Pool, onError: (error: Error) => void, options: PositionsOptions = {}
): Positions => new ListenedPositions(notifications, pool, onError, options)

class ListenedPositions implements Positions {
  readonly #known = new Map<string, KnownPosition>()
  readonly #polled: ReadonlyMap<string, string>
  #listening: Listener | undefined
  #clock: NodeJS.Timeout | undefined
  #isFailing = false
  #announcedAt = -Infinity

  constructor (
    private readonly notifications: Notifications, private readonly pool: Pool,
    private readonly onError: (error: Error) => void, { polled = {} }: PositionsOptions
  ) {
    this.#polled = new Map(Object.entries(polled))
  }

  async reached (source: string, position: bigint, withinMs: number): Promise<boolean> {
    const known = this.#of(source)
    if (known.position >= position) return true
    if (!this.#polled.has(source)) this.#listener() // from now on
    if (this.#isDue(source, known)) this.#read(known)
    this.#clock ??= setInterval(() => this.#tick(), tickMs)
    return await known.wait(position, performance.now() + withinMs)
  }

  async passed (source: string): Promise<bigint | undefined> {
    const known = this.#of(source)
    if (known.isHidden && known.wasReadWithin(checkMs)) return undefined
    const isFresh = this.#polled.has(source) ? known.wasReadWithin(pollMs) : this.#listener().isListening()
    return known.isKnown && isFresh ? known.position : await known.readNow()
  }

  isWhole (source: string): boolean {
    return this.#of(source).isWhole
  }

  furthest (): bigint {
    return [...this.#known.values()].reduce((most, { position }) => position > most ? position : most, -1n)
  }

  close (): void {
    clearInterval(this.#clock)
    for (const known of this.#known.values()) known.endAll()
    this.#listening?.close()
  }

  #listener (): Listener {
    return this.#listening ??= listenForCheckpoints(this.notifications, {
      onCheckpoint: (projection, position, isWhole) => this.#of(projection).advance({ position, isWhole }),
      onReplaced: () => this.#forget(),
      onListening: () => this.#forget()
    })
  }

  /** Notifications may have been missed: calls that wait look for themselves. */
  #forget (): void {
    for (const [source, known] of this.#known) {
      known.forget()
      if (known.isAwaited && !this.#polled.has(source)) this.#read(known)
    }
  }

  #of (source: string): KnownPosition {
    const known = this.#known.get(source)
    if (known) return known
    const table = this.#polled.get(source)
    const added = new KnownPosition(() => table === undefined
      ? readVisible(this.pool, source)
      : readCheckpoint(this.pool, table, readWithinMs).then((position) => ({ position, isWhole: true })))
    this.#known.set(source, added)
    return added
  }

  #tick (): void {
    const now = performance.now()
    let isAwaited = false
    for (const [source, known] of this.#known) {
      known.expire(now)
      if (!known.isAwaited) continue
      isAwaited = true
      if (known.isAwaitedSince(now - checkMs) && now > this.#announcedAt + announceMs) this.#announce(now)
      if (!known.wasReadWithin(this.#polled.has(source) ? pollMs : checkMs)) this.#read(known)
    }
    if (isAwaited) return
    clearInterval(this.#clock)
    this.#clock = undefined
  }

  #announce (now: number): void {
    this.#announcedAt = now
    announceAwaited(this.pool).catch(() => {}) // they look by themselves as well, only later
  }

  /** Whether a call that begins to wait has to read the checkpoint: a projection whose position is known notifies. */
  #isDue (source: string, known: KnownPosition): boolean {
    return this.#polled.has(source) ? !known.wasReadWithin(pollMs) : !known.isKnown
  }

  /** Reports the first of several failures in a row. */
  #read (known: KnownPosition): void {
    known.readNow().then(() => { this.#isFailing = false }, (error: Error) => {
      if (!this.#isFailing) this.onError(error)
      this.#isFailing = true
    })
  }
}
