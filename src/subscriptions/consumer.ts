// What handles the events of a subscription, and what it may say.
import type { PoolClient } from 'pg'
import type { Streams } from '../log/event-log.js'
import type { Batch, IsUnhurried } from '../log/follow.js'

/** Handles the events of a subscription: a projection or the webhook dispatcher. */
export interface Consumer {
  /** Names the lease, for instance `projection assistants g1`. */
  name: string
  eventTypes: readonly string[]
  /** Of events that nobody waits for here. */
  isUnhurried?: IsUnhurried | undefined
  /** Called whenever the subscription (re)starts: another generation may be active by then. */
  open (): Promise<OpenConsumer>
}

export interface OpenConsumer {
  /** Qualified name of a table made by `checkpointTable`. */
  checkpointTable: string
  /**
   * Called by each holder, before it follows the log: brings what is empty beside a long log to where following begins.
   * @returns where the checkpoint is then
   */
  fill? (holder: Holder): Promise<bigint>
  /**
   * Writes what the batch means and moves the checkpoint from `from` in one statement, where it can.
   * @returns false when it has written nothing: then `handle` is called
   * @throws BatchRefused to have the events written apart
   */
  writeAtOnce? (batch: Batch, from: bigint, epoch: bigint): Promise<boolean>
  /**
   * Writes what the batch means, in the transaction that has just moved the checkpoint.
   * @param isApart whether each event is to be written by itself, so that one at fault spoils no other
   * @throws BatchRefused to be called once more so, in a new transaction: savepoints would cost every batch
   */
  handle (tx: PoolClient, batch: Batch, isApart: boolean): Promise<void>
  /** Called after the commit; must not throw. */
  committed? (batch: Batch): void
}

/** Who has claimed the checkpoint, and what it works with. */
export interface Holder {
  /** Which the checkpoint carries. */
  epoch: bigint
  /** Aborted when the lease is lost. */
  signal: AbortSignal
  streams: Streams
  log: Log
}

type Write = (details: object, message: string) => void
export interface Log { debug: Write, info: Write, warn: Write, error: Write }

/** Postgres refuses what an event of the batch says. */
export class BatchRefused extends Error {
  override readonly name = 'BatchRefused'
}
