// Keys of persons that this process knows, for a moment: so an erased one is forgotten by itself.
import type { PersonKey } from './person-keys.js'

/** What is known of a key. */
export interface Known {
  person: string
  keyId: string
  /** Nothing when it was erased, which is for good. */
  key: Buffer | undefined
}

interface Entry extends Known { at: number }

/**
 * Some 400 bytes each, and 1,000 at most: a person has 200 characters, a key id 36 and a key 32 bytes, in events of
 * other writers too. So eight megabytes, and never more than twenty.
 */
const mostKept = 20_000

export class KeyCache {
  readonly #byId = new Map<string, Entry>()
  readonly #current = new Map<string, Entry>()
  readonly #absent = new Map<string, number>()

  /** @param trustedMs how long a key that was found is used without another look, in milliseconds */
  constructor (private readonly trustedMs: number) {}

  /** Nothing when it is not known, or was not looked at lately. */
  find (keyId: string): Known | undefined {
    const entry = this.#byId.get(keyId)
    return entry && (entry.key === undefined || this.#isFresh(entry)) ? entry : undefined
  }

  /** The key that data of the person is sealed under now. */
  current (person: string): PersonKey | undefined {
    const entry = this.#current.get(person)
    if (!entry?.key || !this.#isFresh(entry)) return undefined
    return { person, keyId: entry.keyId, key: entry.key }
  }

  /** The ledger had no key of the person a moment ago. */
  isAbsent (person: string): boolean {
    const at = this.#absent.get(person)
    return at !== undefined && this.#isFresh({ at })
  }

  /** @param at as for `keep` */
  keepAbsent (person: string, at: number): void {
    this.#absent.delete(person)
    this.#absent.set(person, at)
    const [oldest] = this.#absent.keys()
    if (oldest !== undefined && this.#absent.size > mostKept) this.#absent.delete(oldest)
  }

  /** @param at when it was asked for, on the clock of `performance.now()` */
  keep ({ person, keyId, key }: Known, at: number): void {
    if (this.#byId.get(keyId)?.key === undefined && this.#byId.has(keyId)) return
    const entry = { person, keyId, key, at }
    this.#byId.delete(keyId)
    this.#byId.set(keyId, entry)
    this.#absent.delete(person)
    if (key) this.#current.set(person, entry)
    else this.#forgetCurrent(entry)
    const [oldest] = this.#byId.values()
    if (oldest && this.#byId.size > mostKept) this.#forget(oldest)
  }

  /** Takes the keys that are not trusted any more out of memory. */
  sweep (): void {
    for (const [person, at] of this.#absent) if (!this.#isFresh({ at })) this.#absent.delete(person)
    for (const entry of this.#byId.values()) {
      if (this.#isFresh(entry)) return // the others were kept later
      this.#forget(entry)
    }
  }

  #forget (entry: Entry): void {
    this.#byId.delete(entry.keyId)
    this.#forgetCurrent(entry)
  }

  #forgetCurrent ({ person, keyId }: Entry): void {
    if (this.#current.get(person)?.keyId === keyId) this.#current.delete(person)
  }

  #isFresh ({ at }: Pick<Entry, 'at'>): boolean {
    return performance.now() - at < this.trustedMs
  }
}
