// What a projection is: tables, the keys of the rows that an event reads, and the pure step from rows to rows.
import type { Pool, PoolClient } from 'pg'
import type { DomainEvent, EventType } from '../../src/domain/events.js'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { IsDeferred } from '../../src/log/follow.js'
import type { AnyTable, Key, Table } from './table.js'

/** A projection only ever changes rows: without `effects` it has no way to send, to schedule or to append. */
export interface Projection {
  name: string
  /** Raise it when the same log gives other rows: the projection must then be replayed. */
  version: number
  eventTypes: readonly EventType[]
  /** Events whose rows readers seldom wait for: they are batched for up to 250 ms. */
  isDeferred?: IsDeferred
  tables: readonly AnyTable[]
  /** The rows that `project` may read. */
  keys (event: DomainEvent, at: LogPosition): RowKey[]
  /** Adds keys that follow from rows, or from other events of the batch. */
  keysBehind? (batch: readonly Keyed[], rows: Rows): void
  /** Events that create the rows of their keys: the writer inserts them without a look first. */
  creating?: readonly EventType[]
  /** @throws CannotProject before any row is changed */
  project (event: DomainEvent, at: LogPosition, rows: Rows): void
  /** The highest id that the event introduces, and its sequence. */
  idsSeen? (event: DomainEvent): { sequence: string, id: number } | undefined
  /** Only the dispatcher has them. Its tables are in `ledger`, belong to no generation, and are never rebuilt. */
  effects?: Effects
}

export type RowKey = [table: AnyTable, key: Key]

/** An event, and the keys of the rows that it reads. */
export interface Keyed { event: DomainEvent, keys: RowKey[] }

/** An event that cannot be projected, and why. */
export interface Refused { stored: Pick<StoredEvent, 'stream' | 'revision' | 'position' | 'type'>, error: string }

/** What events do besides changing rows. The fold notes it, and the writer writes it with the rows. */
export interface Effects {
  /** Qualified name of the table of the checkpoint. */
  checkpoint: string
  /** Whether the event may pass earlier parked events of its stream. */
  isAlone (stored: StoredEvent): boolean
  /**
   * Forgets noted effects, and reads what the effects of these events depend on.
   * @param presumesNew reads less: if a presumption turns out wrong, the statement writes nothing and is tried again
   */
  begin (db: Pool | PoolClient, events: readonly StoredEvent[], presumesNew: boolean): Promise<void>
  /** Whether the noted effects fill a statement. */
  isFull (): boolean
  /** Notes the effect of an unreadable event. @returns false if it has none, so it must be parked */
  unreadable (stored: StoredEvent, problem: string): boolean
  /** Events that had their effect, but need an operator's attention. */
  parked: Refused[]
  /** $1 to $4 of the statement are the new position, the former one, the epoch and the version of the checkpoint. */
  statement (): Statement
  /** Work to do after the statement in the same transaction, if any. */
  rest (): ((tx: PoolClient) => Promise<void>) | undefined
  /** Called with the rows of the statement, after the commit if the writer has a pool. */
  written (rows: object[]): void
}

/** What is added to the statement that writes rows. */
export interface Statement {
  /** Part of the name of the prepared statement. */
  name?: string
  /**
   * Replaces the CTE `moved`, which has the new version of the checkpoint, or no row if nothing may be written.
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
