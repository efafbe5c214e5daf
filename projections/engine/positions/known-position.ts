// The position of one checkpoint, as far as this process knows it, and the calls that wait until it is passed.

/** How far a checkpoint has come, and whether nothing is parked or was skipped up to there. */
export interface Seen { position: bigint, isWhole: boolean }

interface Waiter { position: bigint, since: number, until: number, settle (reached: boolean): void }

const unknown = -1n

export class KnownPosition {
  #position = unknown
  #isWhole = false
  #reading: Promise<bigint | undefined> | undefined
  #readAt = -Infinity
  #isHidden = false
  readonly #waiters = new Set<Waiter>()

  /** `read` looks the checkpoint up; nothing while readers must not see what it belongs to. */
  constructor (private readonly read: () => Promise<Seen | undefined>) {}

  get position (): bigint { return this.#position }
  get isKnown (): boolean { return this.#position !== unknown }
  /** As far as was last looked up, readers must not see what it belongs to. */
  get isHidden (): boolean { return this.#isHidden && !this.isKnown }
  /** Rows at the position say all that events up to it say. */
  get isWhole (): boolean { return this.#isWhole }

  get isAwaited (): boolean { return this.#waiters.size > 0 }

  /** Whether a call waits that began before then, on the clock of `performance.now()`. */
  isAwaitedSince (then: number): boolean {
    const [oldest] = this.#waiters
    return oldest !== undefined && oldest.since < then
  }

  wasReadWithin (ms: number): boolean {
    return performance.now() - this.#readAt < ms
  }

  advance ({ position, isWhole }: Seen): void {
    if (position <= this.#position) return
    this.#position = position
    this.#isWhole = isWhole
    this.#settle((waiter) => waiter.position <= position ? true : undefined)
  }

  /** Notifications may have been missed. */
  forget (): void {
    this.#position = unknown
    this.#isWhole = false
  }

  /** @param until on the clock of `performance.now()` */
  async wait (position: bigint, until: number): Promise<boolean> {
    const since = performance.now()
    return await new Promise((resolve) => { this.#waiters.add({ position, since, until, settle: resolve }) })
  }

  /** Ends the waiting of the calls whose time is over. */
  expire (now: number): void {
    this.#settle(({ until }) => until <= now ? false : undefined)
  }

  endAll (): void {
    this.#settle(() => false)
  }

  /** Looks the checkpoint up; concurrent calls share one query. */
  async readNow (): Promise<bigint | undefined> {
    this.#readAt = performance.now()
    this.#reading ??= this.#readAndAdvance().finally(() => { this.#reading = undefined })
    return await this.#reading
  }

  async #readAndAdvance (): Promise<bigint | undefined> {
    const seen = await this.read()
    this.#isHidden = seen === undefined
    if (seen !== undefined) this.advance(seen)
    return seen?.position
  }

  /** Ends the waiting of the calls whose outcome is known. */
  #settle (outcome: (waiter: Waiter) => boolean | undefined): void {
    for (const waiter of this.#waiters) {
      const reached = outcome(waiter)
      if (reached === undefined) continue
      this.#waiters.delete(waiter)
      waiter.settle(reached)
    }
  }
}
