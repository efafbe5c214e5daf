// Feeds one consumer from the log: owned by one process, serial, rows and checkpoint in one transaction.
import type { Pool, PoolClient } from 'pg'
import type { Streams } from '../event-store/streams.js'
import type { Batch } from '../event-store/subscribe.js'
import { inTransaction } from '../postgres/transaction.js'
import { claimCheckpoint, Fenced, moveCheckpoint } from './checkpoint.js'
import { faults } from './faults.js'
import { pause, whileOwning, type Lease } from './lease.js'
import { newIn } from './skip-processed.js'
import { count, tallyOf } from './counters.js'

/** Something that follows the log: a projection or the webhook dispatcher. */
export interface Consumer {
  /** Names the lease, for instance `projection assistants g1`. */
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

/** A consumer will not go on by itself: somebody has to look. It is tried again all the same, in case they have. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

type Write = (details: object, message: string) => void

export interface RunOptions {
  streams: Streams
  pool: Pool
  holder: string
  /** Gives way to any owner that does not. */
  yields?: boolean | undefined
  signal: AbortSignal
  log: { debug: Write, info: Write, warn: Write, error: Write }
}

const shortestBackoffMs = 100
const longestBackoffMs = 5_000

/** The pause before the next try, and whether somebody was told that a person is needed. */
interface Backoff { ms: number, isTold: boolean }

/**
 * Runs `consumer` until `signal` is aborted. It never gives up: any error closes the subscription and reopens it
 * from the checkpoint, after a pause that grows to 5 s and starts small again after each commit.
 */
export async function runConsumer (consumer: Consumer, options: RunOptions): Promise<void> {
  const { pool, holder, yields, signal } = options
  const backoff: Backoff = { ms: shortestBackoffMs, isTold: false }
  while (!signal.aborted) {
    try {
      await whileOwning({ pool, name: consumer.name, holder, yields, signal }, (lease) => follow(consumer, lease, options, backoff))
    } catch (error) {
      if (signal.aborted) return
      tell(consumer, error, options, backoff)
      await pause(backoff.ms, signal)
      backoff.ms = Math.min(backoff.ms * 2, longestBackoffMs)
    }
  }
}

function tell ({ name }: Consumer, error: unknown, { yields, log }: RunOptions, backoff: Backoff): void {
  if (yields && error instanceof Fenced) return log.debug({ consumer: name }, 'consumer gave way to another owner')
  tallyOf(name).failures += 1
  if (!(error instanceof Stopped)) return log.warn({ consumer: name, err: error, retryInMs: backoff.ms }, 'consumer stopped, resuming from its checkpoint')
  backoff.ms = longestBackoffMs
  if (!backoff.isTold) log.error({ consumer: name, err: error }, 'consumer stopped, somebody has to look')
  backoff.isTold = true
}

async function follow (consumer: Consumer, lease: Lease, options: RunOptions, backoff: Backoff): Promise<void> {
  const opened = await consumer.open()
  await faults.at?.('opened')
  let position = await claimCheckpoint(options.pool, opened.checkpointTable, lease.epoch)
  await faults.at?.('claimed')
  options.log.debug({ consumer: consumer.name, position: String(position), epoch: String(lease.epoch) }, 'consumer owns its checkpoint')
  for await (const delivered of options.streams.follow({ after: position, eventTypes: consumer.eventTypes, signal: lease.signal })) {
    const batch = newIn(delivered, position)
    if (batch.position <= position) continue
    await faults.at?.('received')
    await commit(opened, batch, position, lease, options.pool)
    position = batch.position
    Object.assign(backoff, { ms: shortestBackoffMs, isTold: false })
    count(consumer.name, batch)
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
