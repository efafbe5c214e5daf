// API keys that this process knows: a bounded cache, held to what was revoked. Unknown ones are looked up together.
import { NotKnownYet } from '../../../projections/engine/positions.js'
import { digestOf, keyPattern, type ApiKeyUser, type KeyRefusal } from '../../http/credentials.js'
import type { KnownKey } from '../../../projections/keys.js'

export interface KnownKeysOptions {
  /** Those that there are, of these digests. */
  find (hashes: readonly string[]): Promise<KnownKey[]>
  /** Since when, and until when, every revocation was heard, on the clock of `performance.now()`. */
  heard (): { since: number, until: number }
}

/** Some ten megabytes. Beyond it the key that was looked up first is forgotten. */
const remembered = 20_000
/** Of revocations that came lately: older ones are found with the key. */
const rememberedRevoked = 10_000

/** A revoked key is refused within a second. Where nothing is heard, a key is as good as its look-up is new. */
const trustedMs = 700
/** Where all is heard: then it is looked up again, while requests go on with what is known. */
const renewedAfterMs = 15_000
const trustedAtMostMs = 60_000

/** Unknown keys that come together are looked up together, so many at once. */
const mostAtOnce = 500

interface Entry { key: KnownKey, at: number, isRenewing?: boolean }
interface Asked { hash: string, settle: (found: KnownKey | undefined) => void, fail: (error: unknown) => void }

export class KnownKeys {
  readonly #entries = new Map<string, Entry>()
  readonly #revoked = new Set<number>()
  #asked: Asked[] = []
  #isAsking = false

  constructor (private readonly options: KnownKeysOptions) {}

  /** @throws NotKnownYet */
  find (text: string): ApiKeyUser | KeyRefusal | Promise<ApiKeyUser | KeyRefusal> {
    if (!keyPattern.test(text)) return 'key-unknown'
    const hash = digestOf(text)
    const entry = this.#entries.get(hash)
    if (!entry || !this.#isTrusted(entry)) return this.#lookUp(hash).then((found) => this.#judge(found))
    if (performance.now() - entry.at > renewedAfterMs) this.#renew(entry)
    return this.#judge(entry.key)
  }

  /** From now on it is refused here. */
  revoke (keyId: number): void {
    const [oldest] = this.#revoked
    if (oldest !== undefined && this.#revoked.size >= rememberedRevoked) this.#revoked.delete(oldest)
    this.#revoked.add(keyId)
  }

  #isTrusted ({ at }: Entry): boolean {
    const now = performance.now()
    if (now - at < trustedMs) return true
    const { since, until } = this.options.heard()
    return at >= since && now - until < trustedMs && now - at < trustedAtMostMs
  }

  #judge (key: KnownKey | undefined): ApiKeyUser | KeyRefusal {
    if (!key) return 'key-unknown'
    const { api_key_id: id, user_id, name, scopes, expires_at } = key
    if (key.is_revoked || this.#revoked.has(id)) return 'key-revoked'
    if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'key-expired'
    return { id, user_id, name, scopes }
  }

  #renew (entry: Entry): void {
    if (entry.isRenewing) return
    entry.isRenewing = true
    this.#lookUp(entry.key.hash).catch(() => { entry.isRenewing = false }) // a later request does
  }

  async #lookUp (hash: string): Promise<KnownKey | undefined> {
    return await new Promise((resolve, reject) => {
      this.#asked.push({ hash, settle: resolve, fail: reject })
      void this.#ask()
    })
  }

  /** One query at a time: strangers who guess keys take one connection at most, and no more. */
  async #ask (): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    while (this.#asked.length > 0) {
      const asked = this.#asked.splice(0, mostAtOnce)
      const at = performance.now()
      try {
        const found = new Map((await this.options.find([...new Set(asked.map(({ hash }) => hash))]))
          .map((key) => [key.hash, key]))
        for (const key of found.values()) this.#remember({ key, at })
        for (const { hash, settle } of asked) settle(found.get(hash))
      } catch (error) {
        for (const { fail } of asked) fail(error)
      }
    }
    this.#isAsking = false
  }

  #remember (entry: Entry): void {
    const { key: { hash } } = entry
    this.#entries.delete(hash)
    const [oldest] = this.#entries.keys()
    if (oldest !== undefined && this.#entries.size >= remembered) this.#entries.delete(oldest)
    this.#entries.set(hash, entry)
  }
}

/** What looks something up, where what fails says that it cannot be known right now. */
export const orNotKnown = <Given extends unknown[], Found>(find: (...given: Given) => Promise<Found>) =>
  async (...given: Given): Promise<Found> => {
    try {
      return await find(...given)
    } catch (cause) {
      if (cause instanceof NotKnownYet) throw cause
      throw Object.assign(new NotKnownYet('who sends it cannot be known right now'), { cause })
    }
  }
