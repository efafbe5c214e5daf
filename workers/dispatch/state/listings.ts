// What the dispatcher knows of numbers that must not be called.
import type { BlacklistEvent } from '../../../src/features/blacklist/events.js'

/** One number of one user. */
export interface Numbered { user_id: string, phone_number: string }

/** `revision` is that of the last event of its stream; -1 where there is none. */
export interface Listing extends Numbered { is_listed: boolean, revision: bigint }

/** What is known without a change of the batch is forgotten beyond so many: a later batch loads it again. */
const mostKept = 10_000

export class Listings {
  readonly #byNumber = new Map<string, Listing>()
  readonly #changed = new Map<string, Listing>()

  has (number: Numbered): boolean {
    return this.#byNumber.has(keyOf(number))
  }

  isListed (number: Numbered): boolean {
    return this.#byNumber.get(keyOf(number))?.is_listed ?? false
  }

  /** What the database says; what is known already is as new, or newer. */
  loaded (listing: Listing): void {
    if (!this.has(listing)) this.#byNumber.set(keyOf(listing), listing)
  }

  /** An event that is known already changes nothing, nor does one of a number that was erased. */
  changedBy (event: BlacklistEvent, revision: bigint): void {
    const [number] = numberIn(event)
    if (!number) return
    const { user_id, phone_number } = number
    const key = keyOf({ user_id, phone_number })
    const known = this.#byNumber.get(key)
    if (known && known.revision >= revision) return
    const listing = { user_id, phone_number, is_listed: event.type === 'PhoneNumberBlacklisted', revision }
    this.#byNumber.set(key, listing)
    this.#changed.set(key, listing)
  }

  changes (): Listing[] {
    return [...this.#changed.values()]
  }

  written (): void {
    this.#changed.clear()
    if (this.#byNumber.size > mostKept) this.#byNumber.clear()
  }
}

/** The number that an event lists or takes off; none where it was erased. */
export function numberIn ({ data }: BlacklistEvent): Numbered[] {
  return 'phone_number' in data && data.phone_number !== undefined && data.phone_number !== null
    ? [{ user_id: data.user_id, phone_number: data.phone_number }]
    : []
}

/** No number has a space. */
const keyOf = ({ user_id, phone_number }: Numbered) => `${phone_number} ${user_id}`
