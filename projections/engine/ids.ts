// Keeps ids that the log knows from being given out again, also after a replay into a fresh database.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent } from '../../src/domain/events.js'
import type { Projection } from './projection.js'

/** The highest id of each sequence in some events. */
export class HighestIds {
  readonly #highest = new Map<string, number>()

  constructor (private readonly projection: Projection) {}

  add (event: DomainEvent): void {
    const seen = this.projection.idsSeen?.(event)
    if (seen) this.#highest.set(seen.sequence, Math.max(seen.id, this.#highest.get(seen.sequence) ?? 0))
  }

  /** Raises the sequences past them. */
  async raise (db: Pool | PoolClient): Promise<void> {
    for (const [sequence, id] of this.#highest) {
      await db.query('SELECT ledger.raise_ids($1::regclass, $2)', [sequence, id])
    }
    this.#highest.clear()
  }
}
