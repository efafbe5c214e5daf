// Folds events into cached rows, and stops at the first that cannot be projected.
import type { Pool } from 'pg'
import { DecodeError, decode, type DomainEvent } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { CannotProject, type Projection, type RowKey } from '../engine/projection.js'
import { loadSkips, type Skips } from '../parking/park.js'
import { cannotProject } from './refused.js'
import type { RowCache } from './row-cache.js'

export interface Decoded { stored: StoredEvent, event: DomainEvent }

export class Folder {
  /** The highest id seen of each sequence. */
  readonly #ids = new Map<string, number>()

  private constructor (private readonly projection: Projection, private readonly cache: RowCache, private readonly skips: Skips) {}

  static async open (projection: Projection, pool: Pool, cache: RowCache): Promise<Folder> {
    return new Folder(projection, cache, await loadSkips(pool, projection.name))
  }

  /** Leaves out what an operator has given up. @throws ReplayRefused */
  decode (events: StoredEvent[]): Decoded[] {
    return events.flatMap((stored) => {
      if (this.skips.has(stored)) return []
      const event = this.#refusing(stored, () => decode(stored))
      return event ? { stored, event } : []
    })
  }

  touched (events: Decoded[]): RowKey[] {
    return events.flatMap(({ event, stored }) => this.projection.keys(event, stored))
  }

  /** What the events touch is in the cache. @throws ReplayRefused */
  fold (events: Decoded[]): void {
    for (const { stored, event } of events) {
      this.#refusing(stored, () => this.projection.project(event, stored, this.cache))
      const seen = this.projection.idsSeen?.(event)
      if (seen) this.#ids.set(seen.sequence, Math.max(seen.id, this.#ids.get(seen.sequence) ?? 0))
    }
  }

  /** After a replay into a fresh database, no id that the log knows is given out again. */
  async raiseIds (pool: Pool): Promise<void> {
    for (const [sequence, id] of this.#ids) await pool.query('SELECT ledger.raise_ids($1::regclass, $2)', [sequence, id])
    this.#ids.clear()
  }

  #refusing<Result> (stored: StoredEvent, step: () => Result): Result {
    try {
      return step()
    } catch (error) {
      if (error instanceof DecodeError || error instanceof CannotProject) throw cannotProject(this.projection, stored, error.message)
      throw error
    }
  }
}
