// The projector role: every projection, run to follow the log.
import type { Logger } from 'pino'
import { assistants } from '../../projections/assistants.js'
import { calls } from '../../projections/calls.js'
import { catalog } from '../../projections/catalog.js'
import { feedGenerations } from '../../projections/engine/feed.js'
import { leads } from '../../projections/leads.js'
import type { Projection } from '../../projections/engine/projection.js'
import type { Parts } from './connections.js'

export const projections: readonly Projection[] = [assistants, leads, calls, catalog]

/** @returns what ends it, after the batches in flight */
export function startProjector ({ consumerPool, streams }: Parts, holder: string, log: Logger): () => Promise<void> {
  const stopping = new AbortController()
  const running = projections.map((projection) => feedGenerations(projection, { pool: consumerPool, streams, holder, signal: stopping.signal, log }))
  return async () => {
    stopping.abort()
    await Promise.all(running)
  }
}
