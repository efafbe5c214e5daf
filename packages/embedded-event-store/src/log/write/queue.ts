// What waits to be written, in the order it came, and no more of it than memory can bear.
import { weightOf } from '../weight.js'
import type { Outcome, WriteRequest } from './request.js'

export interface Waiting {
  request: WriteRequest
  /** Of memory. */
  bytes: number
  settle: (outcome: Outcome) => void
}

const most = { requests: 4096, bytes: 64 * 1024 * 1024 }

export class WriteQueue {
  #waiting: Waiting[] = []
  #bytes = 0
  #roomMakers: Array<() => void> = []

  get isEmpty (): boolean {
    return this.#waiting.length === 0
  }

  get isFull (): boolean {
    return this.#waiting.length >= most.requests || this.#bytes >= most.bytes
  }

  push (request: WriteRequest, settle: (outcome: Outcome) => void): void {
    const bytes = request.events.reduce((sum, event) => sum + weightOf(event), 0)
    this.#waiting.push({ request, bytes, settle })
    this.#bytes += bytes
  }

  /** Takes at most `count` from the front. */
  take (count: number): Waiting[] {
    const taken = this.#waiting.splice(0, count)
    for (const { bytes } of taken) this.#bytes -= bytes
    for (const made of this.#roomMakers.splice(0)) made()
    return taken
  }

  /** Puts to the front again what was taken and could not be done yet. */
  putBack (waiting: Waiting[]): void {
    this.#waiting.unshift(...waiting)
    for (const { bytes } of waiting) this.#bytes += bytes
  }

  /** Gives all of them the same answer. */
  refuse (outcome: Outcome): void {
    for (const { settle } of this.take(this.#waiting.length)) settle(outcome)
  }

  /** Resolves when there is room. */
  async room (): Promise<void> {
    while (this.isFull) await new Promise<void>((resolve) => { this.#roomMakers.push(resolve) })
  }
}
