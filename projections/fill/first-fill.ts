// Fills the generation that readers are to see, when it is new beside a log that is not: in bulk, as a replay does.
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Holder } from '../../src/subscriptions/consumer.js'
import type { Projection } from '../engine/projection.js'
import type { WriterOptions } from '../engine/writer.js'
import { markComplete } from '../generations/complete.js'
import { checkpointOf, generationsOf } from '../generations/generations.js'
import { notifyReaders } from '../generations/readers.js'
import { foldUntil } from './fold-log.js'

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
