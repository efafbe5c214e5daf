// The feed: the newest events in memory, and a wake-up for all subscriptions that wait for the next one.
import type { RecordedEvent } from './log/event.js'
import { portion } from './log/reader.js'

const most = { events: 8192, bytes: 16 * 1024 * 1024 }
// Cut a quarter at a time, so that the cost of moving the rest is spread over many commits.
const leastAfterCut = { events: most.events * 0.75, bytes: most.bytes * 0.75 }

/**
 * One ring of recent events serves all subscribers: each keeps only its place and one portion, so one that
 * has stopped costs little, and one that fell out of the ring reads from the table until it is back.
 */
export class Feed {
  #ring: RecordedEvent[] = []
  #bytes = 0
  /** Everything after this position, up to the head, is in the ring. */
  #floor = 0
  #head = 0
  readonly #waiting = new Set<() => void>()

  /** Events became durable; they follow on the last ones. */
  committed (events: RecordedEvent[]): void {
    for (const event of events) {
      this.#ring.push(event)
      this.#bytes += sizeOf(event)
      this.#head = event.position
    }
    this.#trim()
    for (const wake of [...this.#waiting]) wake()
  }

  /** The log was opened anew and ends at `head`; what was committed meanwhile was not announced. */
  reopened (head: number): void {
    if (head === this.#head && this.#ring.length > 0) return
    this.#ring = []
    this.#bytes = 0
    this.#floor = this.#head = head
    for (const wake of [...this.#waiting]) wake()
  }

  /** A scavenge has removed what stood there; the newest event of the log is never among it. */
  removed (positions: ReadonlySet<number>): void {
    this.#ring = this.#ring.filter((event) => !positions.has(event.position))
    this.#bytes = this.#ring.reduce((sum, event) => sum + sizeOf(event), 0)
  }

  /** The next events after a position, at least one, or undefined when they are not in the ring. */
  after (position: number): RecordedEvent[] | undefined {
    if (position < this.#floor || position >= this.#head) return undefined
    return portion(this.#ring, this.#indexAfter(position))
  }

  /** Resolves when there is more, or when aborted. */
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

// Twice, for an event is kept as it was written and as it is sent.
const sizeOf = (event: RecordedEvent) => 512 + 2 * (event.data.length + event.metadata.length)
