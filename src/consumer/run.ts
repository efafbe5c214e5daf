// Feeds one consumer from the log: owned by one process, serial, rows and checkpoint in one transaction.
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../event-store/streams.js'
import type { Batch } from '../event-store/subscribe.js'
import { inTransaction } from '../postgres/transaction.js'
import { claimCheckpoint, Fenced, moveCheckpoint } from './checkpoint.js'
import { faults } from './faults.js'
import { pause, whileOwning, type Lease } from './lease.js'

/** Something that follows the log: a projection or the webhook dispatcher. */
export interface Consumer {
  /** Names the lease, for instance `projection assistants`. */
  name: string
  eventTypes: readonly string[]
  /** Called at every (re)start, so that a swapped generation is picked up. */
  open (): Promise<OpenConsumer>
}

export interface OpenConsumer {
  /** Qualified name of a table made by `checkpointTable`. */
  checkpointTable: string
  /** Writes what the batch means, in the transaction that has just moved the checkpoint. */
  handle (tx: PoolClient, batch: Batch): Promise<void>
  /** Called after the commit; must not throw. */
  committed? (batch: Batch): void
}

export interface RunOptions {
  streams: Streams
  pool: Pool
  holder: string
  /** Gives way to any owner that does not. */
  yields?: boolean | undefined
  signal: AbortSignal
  log: { debug (details: object, message: string): void, info (details: object, message: string): void, warn (details: object, message: string): void }
}

const shortestBackoffMs = 100
const longestBackoffMs = 5_000

/**
 * Runs `consumer` until `signal` is aborted. It never gives up: any error closes the subscription and reopens it
 * from the checkpoint, after a pause that grows to 5 s and starts small again after each commit.
 */
export async function runConsumer (consumer: Consumer, options: RunOptions): Promise<void> {
  const { pool, holder, yields, signal, log } = options
  const backoff = { ms: shortestBackoffMs }
  while (!signal.aborted) {
    try {
      await whileOwning({ pool, name: consumer.name, holder, yields, signal }, (lease) => follow(consumer, lease, options, backoff))
    } catch (error) {
      if (signal.aborted) return
      const isGivingWay = yields && error instanceof Fenced
      log[isGivingWay ? 'debug' : 'warn']({ consumer: consumer.name, err: error, retryInMs: backoff.ms }, 'consumer stopped, resuming from its checkpoint')
      await pause(backoff.ms, signal)
      backoff.ms = Math.min(backoff.ms * 2, longestBackoffMs)
    }
  }
}

async function follow (consumer: Consumer, lease: Lease, options: RunOptions, backoff: { ms: number }): Promise<void> {
  const opened = await consumer.open()
  await faults.at?.('opened')
  let position = await claimCheckpoint(options.pool, opened.checkpointTable, lease.epoch)
  await faults.at?.('claimed')
  options.log.debug({ consumer: consumer.name, position: String(position), epoch: String(lease.epoch) }, 'consumer owns its checkpoint')
  for await (const batch of options.streams.follow({ after: position, eventTypes: consumer.eventTypes, signal: lease.signal })) {
    await faults.at?.('received')
    await commit(opened, batch, position, lease, options.pool)
    position = batch.position
    backoff.ms = shortestBackoffMs
  }
}

/** The checkpoint first: who is fenced off writes nothing, and whoever else changes the rows can hold this one meanwhile. */
async function commit (opened: OpenConsumer, batch: Batch, from: bigint, lease: Lease, pool: Pool): Promise<void> {
  await inTransaction(pool, async (tx) => {
    await faults.at?.('begun')
    await moveCheckpoint(tx, opened.checkpointTable, lease.epoch, from, batch.position)
    await faults.at?.('moved')
    await opened.handle(tx, batch)
    await faults.at?.('handled')
  })
  await faults.at?.('committed')
  opened.committed?.(batch)
}
