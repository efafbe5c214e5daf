// The projector role: every projection, run to follow the log.
import type { Logger } from 'pino'
import { feedGenerations } from '../../projections/engine/feed.js'
import { projections } from '../../projections/index.js'
import type { Connections } from './connections.js'

/** @returns what ends it, after the batches in flight */
export function startProjector ({ consumerPool, streams }: Connections, holder: string, log: Logger): () => Promise<void> {
  const stopping = new AbortController()
  const running = projections.map((projection) => feedGenerations(projection, { pool: consumerPool, streams, holder, signal: stopping.signal, log }))
  return async () => {
    stopping.abort()
    await Promise.all(running)
  }
}
