// Fills the generation that readers are to see, when it is new beside a log that is not: in bulk, as a replay does.
import type { Pool } from 'pg'
import { readCheckpoint } from '../../src/subscriptions/checkpoint.js'
import type { Holder } from '../../src/subscriptions/consumer.js'
import type { Projection } from '../engine/projection.js'
import { hasParked } from '../parking/park.js'
import { checkpointOf, generationsOf, schemaOf } from '../generations/generations.js'
import { ReplayRefused } from '../generations/refused.js'
import { foldUntil } from './fold-log.js'

export interface Filled {
  /** Where the checkpoint is. */
  position: bigint
  /** The generation is complete once it has passed this position; nothing when it was complete before. */
  completeAt: bigint | undefined
}

const tellEveryMs = 10_000

/**
 * Brings the generation to the end that the log has now, from wherever an earlier fill was broken off. Bulk work parks
 * nothing: from an event that cannot be projected on, the rest is for the subscription, which parks it. The same goes
 * for a generation with parked events, whose streams have to wait.
 * @throws Fenced when another process fills it
 */
export async function fillFirst (
  projection: Projection, generation: number, pool: Pool, holder: Holder
): Promise<Filled> {
  const checkpoint = () => readCheckpoint(pool, checkpointOf(projection, generation))
  const generations = await generationsOf(pool, projection)
  if (generations.find((each) => each.generation === generation)?.complete) {
    return { position: await checkpoint(), completeAt: undefined }
  }
  const completeAt = await holder.streams.head()
  if (!await hasParked(pool, schemaOf(projection, generation))) {
    await foldInBulk(projection, generation, completeAt, pool, holder)
  }
  return { position: await checkpoint(), completeAt }
}

async function foldInBulk (
  projection: Projection, generation: number, until: bigint, pool: Pool, { streams, signal, epoch, log }: Holder
): Promise<void> {
  const { name } = projection
  let toldAt = performance.now()
  const onProgress = (events: number, done: number) => {
    if (performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    log.info({ projection: name, events, percent: Math.round(done * 100) }, 'a read model is being filled')
  }
  try {
    await foldUntil(projection, generation, until, { pool, streams, signal, epoch, onProgress })
  } catch (error) {
    if (!(error instanceof ReplayRefused)) throw error
    log.warn({ projection: name, reason: error.message.split('\n')[0] },
      'a read model is filled batch by batch from here on, as an event has to be parked')
  }
}
