// How many files are parsed at once, and how they make way for other requests.
import { setTimeout as delay } from 'node:timers/promises'
import { Shares, type Release } from '../../commands/shares.js'

/** Of all users. */
const parsedAtOnce = 2
/** Parsing makes others wait for so long, and then rests for twice that. */
const burstMs = 5
const restMs = 2 * burstMs
/** A body has to arrive within a minute anyway. */
const waitMs = 60_000

export class Uploads {
  readonly #reading = new Map<string, number>()
  readonly #places = new Shares(parsedAtOnce, waitMs)

  /** How many uploads of the user are being read. */
  reading (userId: string): number {
    return this.#reading.get(userId) ?? 0
  }

  /** @returns ends it; a second call does nothing */
  begin (userId: string): () => void {
    this.#reading.set(userId, this.reading(userId) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      const left = this.reading(userId) - 1
      if (left > 0) this.#reading.set(userId, left)
      else this.#reading.delete(userId)
    }
  }

  /** To be awaited before each row. One that waits for its sender keeps no place. */
  turns (): { next (): Promise<void> | undefined, end (): void } {
    let release: Release | undefined
    let until = 0
    let timer: NodeJS.Timeout | undefined
    const end = () => {
      clearTimeout(timer)
      release?.()
      release = undefined
    }
    const take = async () => {
      if (release) await delay(restMs)
      end()
      release = await this.#places.acquire('')
      until = performance.now() + burstMs
      timer = setTimeout(end, burstMs + restMs)
    }
    return { next: () => release && performance.now() < until ? undefined : take(), end }
  }
}
