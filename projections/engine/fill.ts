// Folds the log into a generation from its checkpoint on, in large batches.
import type { Pool } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import type { Streams } from '../../src/log/event-log.js'
import { sizeOf } from '../../src/log/stored.js'
import { Fenced, readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { Stopped } from '../../src/subscriptions/run.js'
import { pause } from '../../src/timing.js'
import type { Projection } from './projection.js'
import { Writer, type WriterOptions } from './writer.js'
import { checkpointOf, generationsOf, markComplete, notifyReaders } from './generations.js'
import { ReplayRefused } from './refused.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Holder } from '../../src/subscriptions/consumer.js'

export interface FoldOptions extends Pick<WriterOptions, 'refuse'> {
  pool: Pool
  streams: Streams
  signal: AbortSignal
  /** The epoch of the holder's lease. */
  epoch: bigint
  /** Events since this call, and which part of them this is, 0 to 1. */
  onProgress? (events: number, done: number): void
  limits?: Partial<Limits> | undefined
  /** Before the first try after an error that passes; each further one is twice as long, up to 5 s. */
  shortestPauseMs?: number | undefined
}

export interface Limits {
  /** Memory for rows, in bytes. */
  cacheBytes: number
  /** Most events of one batch. */
  events: number
}

const usualLimits: Limits = { cacheBytes: 16 * 2 ** 20, events: 20_000 }
/** The events of one batch have about this size. */
const batchBytes = 4 * 2 ** 20
/** What a kill costs at most, where events come slowly. */
const longestMs = 5_000
/** Rows are loaded once a batch: few, large ones spare round trips. */
const lingerMs = 20
const mostFailures = 8
const usualShortestPauseMs = 200
const longestPauseMs = 5_000

/**
 * Brings the generation from its checkpoint to `until` exactly. Goes on by itself after an error that passes, such as
 * a restart of a back end. @throws what `refuse` throws; Fenced when another process has the generation
 */
export async function foldUntil (
  projection: Projection, generation: number, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, signal, shortestPauseMs = usualShortestPauseMs } = options
  let former = -1n
  for (let failures = 0; ;) {
    try {
      const from = await readCheckpoint(pool, checkpointOf(projection, generation))
      if (from >= until) return
      if (from > former) failures = 0
      former = from
      await foldFrom(projection, generation, from, until, options)
    } catch (error) {
      signal.throwIfAborted()
      const isFinal = error instanceof ReplayRefused || error instanceof Fenced || error instanceof Stopped
      if (isFinal || ++failures > mostFailures) throw error
      await pause(Math.min(shortestPauseMs * 2 ** (failures - 1), longestPauseMs), signal)
    }
  }
}

async function foldFrom (
  projection: Projection, generation: number, from: bigint, until: bigint, options: FoldOptions
): Promise<void> {
  const { pool, streams, signal, epoch, refuse, onProgress } = options
  const { cacheBytes, events: mostEvents } = { ...usualLimits, ...options.limits }
  const writer = new Writer(projection, generation, pool, { refuse, budgetBytes: cacheBytes, isBulk: true })
  let waiting: StoredEvent[] = []
  let [count, bytes, reached, written, writtenAt] = [0, 0, from, from, performance.now()]
  const following = streams.follow({ after: from, eventTypes: projection.eventTypes, signal, lingerMs })
  for await (const { events, position } of following) {
    reached = position < until ? position : until
    for (const event of events) {
      if (event.position > until) break
      waiting.push(event)
      count += 1
      bytes += sizeOf(event.data)
      if (bytes >= batchBytes || waiting.length >= mostEvents) await write(event.position)
    }
    if (reached === until || performance.now() - writtenAt > longestMs) await write(reached)
    onProgress?.(count, Number(reached - from) / Number(until - from))
    if (reached === until) return
  }
  signal.throwIfAborted()

  async function write (position: bigint): Promise<void> {
    await writer.write({ events: waiting, position }, written, epoch)
    waiting = []
    ;[bytes, written, writtenAt] = [0, position, performance.now()]
  }
}

const tellEveryMs = 10_000

/**
 * Brings the generation to the end that the log has now, from wherever an earlier fill was broken off: then readers see
 * it. @returns where its checkpoint is @throws Fenced when another process fills it
 */
export async function fillFirst (
  projection: Projection, generation: number, pool: Pool, holder: Holder & Pick<WriterOptions, 'refuse'>
): Promise<bigint> {
  const { name } = projection
  const checkpoint = checkpointOf(projection, generation)
  const generations = await generationsOf(pool, projection)
  const isComplete = generations.find((each) => each.generation === generation)?.complete
  if (isComplete) return await readCheckpoint(pool, checkpoint)
  let toldAt = performance.now()
  const onProgress = (events: number, done: number) => {
    if (performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    holder.log.info({ projection: name, events, percent: Math.round(done * 100) }, 'a read model is being filled')
  }
  await foldUntil(projection, generation, await holder.streams.head(), { ...holder, pool, onProgress })
  const position = await readCheckpoint(pool, checkpoint)
  await inTransaction(pool, async (tx) => {
    await markComplete(tx, projection, generation)
    await notifyReaders(tx, projection, generation, position)
  })
  return position
}
