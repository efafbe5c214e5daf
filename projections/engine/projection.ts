// What a projection is: tables, the keys of the rows that an event reads, and the pure step from rows to rows.
import type { DomainEvent, EventType } from '../../src/domain/events.js'
import type { IsDeferred } from '../../src/log/follow.js'
import type { AnyTable, Key, Table } from './table.js'

/** A projection only ever changes rows: it has no way to send, to schedule or to append. */
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
  /** Events that bring the rows of their keys into the world: mostly there are none yet. */
  creating?: readonly EventType[]
  /** @throws CannotProject before any row is changed */
  project (event: DomainEvent, at: LogPosition, rows: Rows): void
  /** The highest id that the event brings into the world, and the sequence it came from. */
  idsSeen? (event: DomainEvent): { sequence: string, id: number } | undefined
}

export type RowKey = [table: AnyTable, key: Key]

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
