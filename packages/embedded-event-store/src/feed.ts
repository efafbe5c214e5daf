// The feed: the newest events in memory, and a wake-up for all subscriptions that wait for the next one.
import type { RecordedEvent } from './log/event.js'
import { portion } from './log/reader.js'

const most = { events: 8192, bytes: 16 * 1024 * 1024 }
// Cut a quarter at a time, so that the cost of moving the rest is spread over many commits.
const leastAfterCut = { events: most.events * 0.75, bytes: most.bytes * 0.75 }

/** Where a waiter may go on: everything up to here was not for it. Undefined: look in the table. */
type Wake = (considered: number | undefined) => void

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
  readonly #waiting = new Map<string | undefined, Set<Wake>>()

  /** Events became durable; they follow on the last ones. */
  committed (events: RecordedEvent[]): void {
    const before = this.#head
    for (const event of events) {
      this.#ring.push(event)
      this.#bytes += sizeOf(event)
      this.#head = event.position
    }
    this.#trim()
    this.#wake(undefined, before)
    for (const event of events) this.#wake(event.stream, before)
  }

  /** The log was opened anew and ends at `head`; what was committed meanwhile was not announced. */
  reopened (head: number): void {
    if (head === this.#head && this.#ring.length > 0) return
    this.#ring = []
    this.#bytes = 0
    this.#floor = this.#head = head
    for (const stream of [...this.#waiting.keys()]) this.#wake(stream, undefined)
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

  /** Resolves at the next event of a stream, or of any when `stream` is undefined, or when aborted. */
  async next (stream: string | undefined, aborted: AbortSignal): Promise<number | undefined> {
    if (aborted.aborted) return undefined
    return await new Promise((resolve) => {
      const waiting = this.#waiting.get(stream) ?? new Set()
      this.#waiting.set(stream, waiting)
      const wake: Wake = (considered) => {
        aborted.removeEventListener('abort', onAbort)
        waiting.delete(wake)
        if (waiting.size === 0 && this.#waiting.get(stream) === waiting) this.#waiting.delete(stream)
        resolve(considered)
      }
      const onAbort = () => { wake(undefined) }
      waiting.add(wake)
      aborted.addEventListener('abort', onAbort, { once: true })
    })
  }

  #wake (stream: string | undefined, considered: number | undefined): void {
    const waiting = this.#waiting.get(stream)
    if (waiting !== undefined) for (const wake of [...waiting]) wake(considered)
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
