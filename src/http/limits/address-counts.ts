// How often each address was counted within a minute, in a table that does not grow beyond a bound.
import { normalizeIP } from '@fastify/rate-limit'

/** Some three megabytes. Beyond it the address that was counted first is forgotten. */
const remembered = 20_000

const windowMs = 60_000

interface Window { count: number, endsAt: number }

export interface AddressCount {
  /** With this one. */
  count: number
  /** When the count starts anew, in seconds. */
  resetsInSeconds: number
}

/** Addresses of IPv6 count by their first 64 bits, as that is what one caller has; IPv4 in IPv6 is IPv4. */
export class AddressCounts {
  readonly #windows = new Map<string, Window>()
  readonly #most: number

  constructor (most = remembered) {
    this.#most = most
  }

  /** How many addresses are remembered. */
  get size (): number {
    return this.#windows.size
  }

  /** Counts one request. `now` is in milliseconds. */
  add (address: string | undefined, now = performance.now()): AddressCount {
    const key = normalizeIP(address ?? '') // a connection that is closed has none
    const window = this.#windowOf(key, now)
    window.count++
    return { count: window.count, resetsInSeconds: Math.ceil((window.endsAt - now) / 1_000) }
  }

  #windowOf (key: string, now: number): Window {
    const known = this.#windows.get(key)
    if (known && now < known.endsAt) return known
    this.#windows.delete(key)
    const [oldest] = this.#windows.keys()
    if (oldest !== undefined && this.#windows.size >= this.#most) this.#windows.delete(oldest)
    const window = { count: 0, endsAt: now + windowMs }
    this.#windows.set(key, window)
    return window
  }
}
