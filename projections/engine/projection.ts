// What a projection is: tables, the keys of the rows that an event reads, and the pure step from rows to rows.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent, EventType } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { IsDeferred } from '../../src/log/follow.js'
import type { AnyTable, Key, Table } from './table.js'

/** A projection only ever changes rows: without `effects` it has no way to send, to schedule or to append. */
export interface Projection {
  name: string
  /** Raised when the same log gives other rows: then the projection has to be replayed. */
  version: number
  eventTypes: readonly EventType[]
  /** Of events whose rows readers seldom wait for: they are written up to 250 ms later, many at once. */
  isDeferred?: IsDeferred
  tables: readonly AnyTable[]
  /** The rows that `project` may read. */
  keys (event: DomainEvent, at: LogPosition): RowKey[]
  /** Adds keys that follow from rows, or from other events of the batch. */
  keysBehind? (batch: readonly Keyed[], rows: Rows): void
  /** Events that bring the rows of their keys into the world: mostly there are none yet. */
  creating?: readonly EventType[]
  /** @throws CannotProject before any row is changed */
  project (event: DomainEvent, at: LogPosition, rows: Rows): void
  /** The highest id that the event brings into the world, and the sequence it came from. */
  idsSeen? (event: DomainEvent): { sequence: string, id: number } | undefined
  /** Of the dispatcher: its tables are in `ledger`, belong to no generation, and are never made anew. */
  effects?: Effects
}

export type RowKey = [table: AnyTable, key: Key]

/** An event, and the keys of the rows that it reads. */
export interface Keyed { event: DomainEvent, keys: RowKey[] }

/** An event that cannot be projected, and why. */
export interface Refused { stored: Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'type'>, error: string }

/** What events do beside changing rows: the fold notes it, and the writer writes it with the rows. */
export interface Effects {
  /** Qualified name of the table of the checkpoint. */
  checkpoint: string
  /** Whether the event waits for no earlier one of its stream that is parked. */
  isAlone (stored: StoredEvent): boolean
  /**
   * Forgets what was noted, and reads what the effects of these events depend on.
   * @param presumesNew what they create is taken for new, and what it needs for there: else nothing was written
   */
  begin (db: Pool | PoolClient, events: readonly StoredEvent[], presumesNew: boolean): Promise<void>
  /** Whether what is noted fills a statement. */
  isFull (): boolean
  /** Notes what an event does that cannot be read. @returns false when it does nothing, and is parked */
  unreadable (stored: StoredEvent, problem: string): boolean
  /** Events that had their effect, and that operators have to look at. */
  parked: Refused[]
  /** $1 to $4 of the statement are the new position, the former one, the epoch and the version of the checkpoint. */
  statement (): Statement
  /** What follows the statement in a transaction, where anything does. */
  rest (): ((tx: PoolClient) => Promise<void>) | undefined
  /** The statement is committed, and answered this. */
  written (rows: object[]): void
}

/** What is added to the statement that writes rows. */
export interface Statement {
  /** Of its kind, for the name of the prepared statement. */
  name?: string
  /**
   * In place of what moves the checkpoint: `moved` has its version, or no row where nothing is to be written.
   * @param after as of `movedSql`
   */
  moving? (after: number): string
  /** Begins with a comma. */
  part?: string
  /** The query at the end, whose first row has the version. */
  end?: string
  /** From $5 on. */
  values: unknown[]
}

/** Where an event is in the log, and when it was recorded. */
export interface LogPosition {
  stream: string
  revision: bigint
  position: bigint
  created: Date
  /** Says whether it can be read. */
  metadata: Record<string, string>
}

/** The rows of a batch while events are folded into them. */
export interface Rows {
  get<Row extends object> (table: Table<Row>, key: Key): Row | undefined
  put<Row extends object> (table: Table<Row>, row: Row): void
}

/** An event contradicts the rows; it is parked with the later events of its stream. */
export class CannotProject extends Error {
  override readonly name = 'CannotProject'
}
