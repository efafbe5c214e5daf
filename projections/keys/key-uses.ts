// When each API key was last used, to the minute: one write a key and minute in each process, and none a request.
import type { Pool } from 'pg'

/** What came together is written together, in milliseconds. */
const writeAfterMs = 1_000
/** Beyond it what was written is forgotten: then a key may be written twice in a minute. */
const remembered = 20_000
const minuteMs = 60_000

export class KeyUses {
  /** The minute that was noted for each key. */
  readonly #noted = new Map<number, number>()
  #unwritten = new Map<number, number>()
  #timer: NodeJS.Timeout | undefined

  constructor (private readonly pool: Pool, private readonly onError: (error: unknown) => void) {}

  used (keyId: number, now = Date.now()): void {
    const minute = Math.floor(now / minuteMs)
    if (this.#noted.get(keyId) === minute) return
    if (this.#noted.size >= remembered) this.#noted.clear()
    this.#noted.set(keyId, minute)
    this.#unwritten.set(keyId, minute)
    this.#timer ??= setTimeout(() => void this.#write(), writeAfterMs).unref()
  }

  /** Writes the last ones. */
  async close (): Promise<void> {
    clearTimeout(this.#timer)
    await this.#write()
  }

  /** What cannot be written is lost: the next minute of the key is written again. */
  async #write (): Promise<void> {
    this.#timer = undefined
    const uses = [...this.#unwritten]
    if (uses.length === 0) return
    this.#unwritten = new Map()
    try {
      await this.pool.query(`
        INSERT INTO ledger.api_key_uses AS known (api_key_id, last_used_at)
        SELECT used.id, to_timestamp(used.minute * 60) FROM unnest($1::bigint[], $2::bigint[]) AS used (id, minute)
        ORDER BY used.id
        ON CONFLICT (api_key_id) DO UPDATE SET last_used_at = excluded.last_used_at
        WHERE known.last_used_at < excluded.last_used_at`,
      [uses.map(([id]) => id), uses.map(([, minute]) => minute)])
    } catch (error) {
      for (const [id] of uses) this.#noted.delete(id)
      this.onError(error)
    }
  }
}
