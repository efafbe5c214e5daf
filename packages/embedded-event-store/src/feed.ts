// Keeps the newest events in memory, and wakes all subscriptions that wait for the next one.
import type { RecordedEvent } from './log/event.js'
import { portion } from './log/reader.js'

const most = { events: 8192, bytes: 16 * 1024 * 1024 }
// Cuts a quarter at a time, so that the cost of moving the rest is spread over many commits.
const leastAfterCut = { events: most.events * 0.75, bytes: most.bytes * 0.75 }

/**
 * One ring buffer of recent events serves all subscribers. Each keeps only its position and one portion, so a stalled
 * one costs little. One that fell out of the ring reads from the table until it catches up.
 */
export class Feed {
  #ring: RecordedEvent[] = []
  #bytes = 0
  /** The ring has everything after this position up to the head. */
  #floor = 0
  #head = 0
  readonly #waiting = new Set<() => void>()

  /** Adds events that just became durable, directly after the last ones. */
  committed (events: RecordedEvent[]): void {
    for (const event of events) {
      this.#ring.push(event)
      this.#bytes += sizeOf(event)
      this.#head = event.position
    }
    this.#trim()
    for (const wake of [...this.#waiting]) wake()
  }

  /** The log was reopened and ends at `head`; commits in between were not announced. */
  reopened (head: number): void {
    if (head === this.#head && this.#ring.length > 0) return
    this.#ring = []
    this.#bytes = 0
    this.#floor = this.#head = head
    for (const wake of [...this.#waiting]) wake()
  }

  /** A scavenge removed these positions, which never include the newest event of the log. */
  removed (positions: ReadonlySet<number>): void {
    this.#ring = this.#ring.filter((event) => !positions.has(event.position))
    this.#bytes = this.#ring.reduce((sum, event) => sum + sizeOf(event), 0)
  }

  /** At least one event after a position; undefined when the ring does not have it. */
  after (position: number): RecordedEvent[] | undefined {
    if (position < this.#floor || position >= this.#head) return undefined
    return portion(this.#ring, this.#indexAfter(position))
  }

  /** Resolves when there are new events, or when aborted. */
  async next (aborted: AbortSignal): Promise<void> {
    if (aborted.aborted) return
    await new Promise<void>((resolve) => {
      const wake = () => {
        aborted.removeEventListener('abort', wake)
        this.#waiting.delete(wake)
        resolve()
      }
      this.#waiting.add(wake)
      aborted.addEventListener('abort', wake, { once: true })
    })
  }

  #trim (): void {
    if (this.#ring.length <= most.events && this.#bytes <= most.bytes) return
    let cut = 0
    const isTooMuch = () => this.#ring.length - cut > leastAfterCut.events || this.#bytes > leastAfterCut.bytes
    while (cut < this.#ring.length - 1 && isTooMuch()) {
      const event = this.#ring[cut++]
      if (event !== undefined) {
        this.#bytes -= sizeOf(event)
        this.#floor = event.position
      }
    }
    this.#ring.splice(0, cut)
  }

  #indexAfter (position: number): number {
    let [low, high] = [0, this.#ring.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ring[middle]?.position ?? Infinity) <= position) low = middle + 1
      else high = middle
    }
    return low
  }
}

// Counted twice: the event is kept as written and as encoded.
const sizeOf = (event: RecordedEvent) => 512 + 2 * (event.data.length + event.metadata.length)
