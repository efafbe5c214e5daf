// Folds events into rows that are kept in memory, and stops at the first event that cannot be projected.
import type { Pool } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { createdBy, fold, loadMissing, readEvents, type Readable, type Unreadable, HighestIds } from '../engine/fold.js'
import type { Projection } from '../engine/projection.js'
import type { MemoryRows } from '../engine/rows.js'
import { loadSkipped, type Skipped } from '../parking/park.js'
import { cannotProject } from '../generations/refused.js'

export class Folder {
  readonly ids: HighestIds

  private constructor (
    private readonly projection: Projection, private readonly rows: MemoryRows, private readonly skipped: Skipped
  ) {
    this.ids = new HighestIds(projection)
  }

  static async open (projection: Projection, pool: Pool, rows: MemoryRows): Promise<Folder> {
    return new Folder(projection, rows, await loadSkipped(pool, projection.name))
  }

  /** What the events say, without those that an operator has given up. */
  read (events: StoredEvent[]): Array<Readable | Unreadable> {
    return readEvents(this.projection, events.filter((stored) => !this.skipped.has(stored)))
  }

  /**
   * Loads from the tables in `schema` what is not in memory, then folds.
   * @returns the events that are left, where the rows that they read are large @throws ReplayRefused
   */
  async loadAndFold (
    events: StoredEvent[], pool: Pool, schema: string, presumesNew: boolean
  ): Promise<StoredEvent[]> {
    const read = this.read(events)
    if (presumesNew) this.rows.presumeAbsent(createdBy(this.projection, read))
    const count = await loadMissing(pool, schema, this.rows, read)
    this.fold(read.slice(0, count))
    const next = read[count]
    return next ? events.slice(events.indexOf(next.stored)) : []
  }

  /** The rows that the events read are in memory. @throws ReplayRefused */
  fold (events: Array<Readable | Unreadable>): void {
    for (const each of events) {
      const problem = 'problem' in each ? each.problem : fold(this.projection, each, this.rows)
      if (problem !== undefined) throw cannotProject(this.projection, each.stored, problem)
      if ('event' in each) this.ids.add(each.event)
    }
  }
}
