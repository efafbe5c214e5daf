// Writes what was folded into the generation that is being built, while the next events are folded already.
import type { Pool } from 'pg'
import { moveCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { isAboutData, isTaken } from '../../src/postgres/problems/about-data.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { copyRows } from './copy-rows.js'
import type { MemoryRows, Split } from '../engine/rows.js'
import { saveRows } from '../engine/table.js'

export interface Target {
  pool: Pool
  /** Of the generation. */
  schema: string
  /** The builder's, which the checkpoint carries. */
  epoch: bigint
}

/** Events that were folded, and the position that is reached with them. */
export interface Part { events: StoredEvent[], position: bigint }

/** Postgres does not take what the events say that end with this one. */
export class DataRefused extends Error {
  override readonly name = 'DataRefused'
  constructor (readonly event: StoredEvent, cause: Error) { super(cause.message, { cause }) }
}

/** A row that was taken for new is there already. */
export class Presumed extends Error {
  override readonly name = 'Presumed'
  constructor (cause: Error) { super(cause.message, { cause }) }
}

const mostBytes = 2 * 2 ** 20
/** Rows that were only read are forgotten with a write too. */
const mostRead = 32 * 2 ** 20
/** What a kill costs at most, where events come slowly. */
const longestMs = 5_000

/** Rows and checkpoint, one transaction after the other; one that is lost was never there. */
export class WriteBehind {
  #flight: Promise<void> | undefined
  #unwritten = 0
  #last: StoredEvent | undefined
  #tookAt = performance.now()

  /** `position` is that of the checkpoint. */
  constructor (
    private readonly target: Target, private readonly rows: MemoryRows,
    private position: bigint, private readonly mostEvents: number
  ) {}

  /** Whether it is time to write, now that these have been folded too. */
  isDue ({ events }: Part): boolean {
    this.#unwritten += events.length
    this.#last = events.at(-1) ?? this.#last
    if (this.#unwritten >= this.mostEvents) return true
    if (this.rows.changedBytes >= mostBytes || this.rows.bytes >= mostRead) return true
    return performance.now() - this.#tookAt > longestMs
  }

  /** Begins to write everything up to `position`, once the former write is done. @throws what that failed with */
  async write (position: bigint): Promise<void> {
    await this.settle()
    this.#flight = commit(this.target, this.rows.takeSplit(), this.position, position, this.#last)
    this.#flight.catch(() => {}) // `settle` throws it
    this.position = position
    this.#unwritten = 0
    this.#tookAt = performance.now()
  }

  /** Everything that was begun is written. Forgets rows only here, so that none goes while events are being folded. */
  async settle (): Promise<void> {
    await this.#flight
    this.#flight = undefined
    this.rows.written()
  }
}

async function commit (
  { pool, schema, epoch }: Target, changes: Split[], from: bigint, to: bigint, last?: StoredEvent
): Promise<void> {
  try {
    await inTransaction(pool, async (tx) => {
      await tx.query('SET LOCAL synchronous_commit = off') // a replay makes anew what a crash loses
      await moveCheckpoint(tx, `${schema}.checkpoint`, epoch, from, to)
      for (const { table, fresh, others } of changes) {
        await copyRows(tx, schema, table, fresh)
        await saveRows(tx, schema, table, others)
      }
    })
  } catch (error) {
    if (isTaken(error)) throw new Presumed(error)
    throw last && (isTooLong(error) || isAboutData(error)) ? new DataRefused(last, error) : error
  }
}

/** A text that is longer than a string can be. */
const isTooLong = (error: unknown): error is RangeError => error instanceof RangeError
