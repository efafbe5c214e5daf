// The projector role: runs every projection, and replays those folded by an earlier version of the code.
import { feedGenerations } from '../../projections/engine/feed.js'
import { outdated } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import { findAction, type ActionReport } from '../../projections/engine/actions.js'
import { endsWithin, pause } from '../timing.js'
import { openActions } from './actions.js'
import type { Services } from './services.js'

/** A batch in flight ends within this time, or its connection is dead. */
const batchWithinMs = 11_000

/** @returns what ends it, after the batches in flight */
export function startProjector (
  { consumerPool: pool, streams, notifications, logGuard: sameLog, holder, log }: Services
): () => Promise<void> {
  const stopping = new AbortController()
  const running = feedGenerations(projections, {
    pool, streams, notifications, sameLog, holder, signal: stopping.signal, log
  })
  return async () => {
    stopping.abort()
    await endsWithin(batchWithinMs, running)
  }
}

const lookEveryMs = 1_000

/**
 * PROJECTION_REBUILD=auto: replays what an earlier version of the code has folded, one projection after the other, as
 * actions that operators see and can resume. A failed one is logged and repeated at the next start. When several
 * projectors start together, one of them does it. What a later version has folded stays: during a rolling update the
 * old release must not undo what the new one has done.
 * @returns what ends it
 */
export function rebuildOutdated (services: Services): () => Promise<void> {
  const { pool, log } = services
  const actions = openActions(services)
  const stopping = new AbortController()
  const rebuilding = (async () => {
    const earlier = (await outdated(pool, projections)).filter(({ foldedBy, version }) => foldedBy < version)
    for (const { name } of earlier) if (!stopping.signal.aborted) await rebuild(name)
  })().catch((error: unknown) => { log.error({ err: error }, 'read models could not be rebuilt') })
  return async () => {
    stopping.abort()
    await actions.stop()
    await rebuilding
  }

  async function rebuild (projection: string): Promise<void> {
    const id = await actions.start('replay', projection, {})
    if (id === undefined) return // another process rebuilds it
    log.info({ projection }, 'a read model of an earlier version is rebuilt')
    const { state, message } = await ended(id) ?? {}
    if (state === 'done') log.info({ projection }, message)
    if (state === 'failed') log.error({ projection }, `a read model could not be rebuilt: ${message}`)
  }

  async function ended (id: string): Promise<ActionReport | undefined> {
    while (!stopping.signal.aborted) {
      await pause(lookEveryMs, stopping.signal)
      const found = await findAction(pool, id).catch(() => undefined) // Postgres may restart
      if (found && found.state !== 'running') return found
    }
    return undefined
  }
}
