// What handles the events of a subscription, and what it may say.
import type { Batch, IsDeferred } from '../log/follow.js'

/** Handles the events of a subscription: a projection or the webhook dispatcher. */
export interface Consumer {
  /** Names the lease, for instance `projection assistants g1`. */
  name: string
  eventTypes: readonly string[]
  /** Of events whose rows nobody waits for: they are written up to 250 ms later, many at once. */
  isDeferred?: IsDeferred | undefined
  /** Called whenever the subscription (re)starts: another generation may be active by then. */
  open (): Promise<OpenConsumer>
}

export interface OpenConsumer {
  /** Qualified name of a table made by `checkpointTable`. */
  checkpointTable: string
  /**
   * Writes what the batch means, and moves the checkpoint from `from` to its end, in one transaction.
   * @throws Fenced when another holder has the checkpoint
   */
  write (batch: Batch, from: bigint, epoch: bigint): Promise<void>
}

type Write = (details: object, message: string) => void
export interface Log { debug: Write, info: Write, warn: Write, error: Write }
