// Keeps ids that the log knows from being given out again, also after a replay into a fresh database.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent } from '../../src/domain/events.js'
import type { Projection } from './projection.js'

/** The highest id of each sequence in some events. */
export class HighestIds {
  readonly #highest = new Map<string, number>()
  /** Of each sequence, below which there is nothing to raise: ids are given out in blocks. */
  readonly #given = new Map<string, number>()

  constructor (private readonly projection: Projection) {}

  add (event: DomainEvent): void {
    const seen = this.projection.idsSeen?.(event)
    if (seen) this.#highest.set(seen.sequence, Math.max(seen.id, this.#highest.get(seen.sequence) ?? 0))
  }

  /** Raises the sequences past them. */
  async raise (db: Pool | PoolClient): Promise<void> {
    for (const [sequence, id] of this.#highest) {
      if (id <= (this.#given.get(sequence) ?? 0)) continue
      const { rows: [raised] } = await db.query<{ given: string }>(`
        WITH raised AS MATERIALIZED (SELECT ledger.raise_ids($1::regclass, $2))
        SELECT ledger.given_ids($1::regclass) AS given FROM raised`, [sequence, id])
      this.#given.set(sequence, Number(raised?.given ?? 0))
    }
    this.#highest.clear()
  }
}
