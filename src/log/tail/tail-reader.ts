// Reads the tail of the log for one follower: its types alone, at its own pace.
import type { StoredEvent } from '../../domain/stored-event.js'
import type { FollowOptions } from '../follow.js'
import type { Batch } from '../reads/batch.js'
import { unhurriedMs } from '../subscribe.js'
import type { Tail } from './tail.js'

const mostEvents = 500
/** So long the events of others are passed without a word: at once when the last batch had some, and else. */
const passingMs = { busy: 250, idle: 2_000 }

export class TailReader {
  readonly #types: ReadonlySet<string>
  readonly #look = () => this.#wake()
  #found: StoredEvent[] = []
  #hasHurried = false
  /** Everything up to here was looked at; of it, what is behind `#position` waits to be handed over. */
  #seen: bigint
  #position: bigint
  #passing: number = passingMs.busy
  #isPressed = false
  #unhurriedTimer: NodeJS.Timeout | undefined
  #passingTimer: NodeJS.Timeout | undefined
  #wake = () => {}

  constructor (private readonly tail: Tail, private readonly options: FollowOptions) {
    this.#types = new Set(options.eventTypes)
    this.#seen = this.#position = options.after
    tail.join(this.#look)
    options.signal.addEventListener('abort', this.#look, { once: true })
  }

  /** The next batch; nothing when the signal is aborted, the tail is over, or it has run away from this reader. */
  async next (): Promise<Batch | undefined> {
    while (!this.options.signal.aborted && this.tail.holds(this.#seen)) {
      this.#find()
      if (this.#isDue()) return this.#take()
      this.#setTimers()
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
    return undefined
  }

  /** Hands over what waits, or what comes next, without waiting for others. */
  press (): void {
    this.#isPressed = true
    this.#wake()
  }

  close (): void {
    this.#clearTimers()
    this.options.signal.removeEventListener('abort', this.#look)
    this.tail.leave(this.#look)
  }

  #find (): void {
    const { events } = this.tail
    let last: bigint | undefined
    events.visit(this.#seen, (event) => {
      if (this.#found.length >= mostEvents) return false
      last = event.position
      if (!this.#types.has(event.type)) return true
      this.#found.push(event)
      this.#hasHurried ||= this.options.isUnhurried?.(event) !== true
      return true
    })
    const isFull = this.#found.length >= mostEvents
    if (isFull) this.#seen = last ?? this.#seen
    else if (events.reached > this.#seen) this.#seen = events.reached // who joined may be further on
  }

  #isDue (): boolean {
    return this.#hasHurried || this.#found.length >= mostEvents || (this.#isPressed && this.#seen > this.#position)
  }

  #take (): Batch {
    this.#clearTimers()
    const events = this.#found
    this.#found = []
    this.#hasHurried = this.#isPressed = false
    this.#passing = events.length > 0 ? passingMs.busy : passingMs.idle
    this.#position = this.#seen
    return { events, position: this.#position }
  }

  #setTimers (): void {
    if (this.#found.length > 0) this.#unhurriedTimer ??= setTimeout(() => this.press(), unhurriedMs)
    else if (this.#seen > this.#position) this.#passingTimer ??= setTimeout(() => this.press(), this.#passing)
  }

  #clearTimers (): void {
    clearTimeout(this.#unhurriedTimer)
    clearTimeout(this.#passingTimer)
    this.#unhurriedTimer = this.#passingTimer = undefined
  }
}
