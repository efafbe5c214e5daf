// The projector role: runs every projection.
import { feedGenerations } from '../../projections/engine/feed.js'
import { projections } from '../../projections/index.js'
import { endsWithin } from '../postgres/ends-within.js'
import type { Services } from './services.js'

/** A batch that is under way ends by then, or its connection is dead. */
const batchWithinMs = 11_000

/** @returns what ends it, after the batches in flight */
export function startProjector ({ connections, logGuard: sameLog, holder, log }: Services): () => Promise<void> {
  const { consumerPool: pool, streams } = connections
  const stopping = new AbortController()
  const running = projections.map((projection) =>
    feedGenerations(projection, { pool, streams, sameLog, holder, signal: stopping.signal, log }))
  return async () => {
    stopping.abort()
    await endsWithin(batchWithinMs, Promise.all(running))
  }
}
