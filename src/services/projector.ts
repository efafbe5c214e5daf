// The projector role: runs every projection, and replays what an earlier version of the code has folded.
import { feedGenerations } from '../../projections/engine/feed.js'
import { outdated } from '../../projections/engine/generations.js'
import { projections } from '../../projections/index.js'
import { findAction, type ActionReport } from '../../projections/engine/actions.js'
import { endsWithin, pause } from '../timing.js'
import { openActions } from './actions.js'
import type { Services } from './services.js'

/** A batch that is under way ends by then, or its connection is dead. */
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
 * PROJECTION_REBUILD=auto: what an earlier version of the code has folded is replayed, one after the other, each as an
 * operator would ask for it: it is shown and can be gone on with. One that fails is told, and tried again at the
 * next start. Of several projectors that start together one does it. What a later version has folded stays: a release
 * that is on its way out must not undo what the next one has done.
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
    if (id === undefined) return // another process does it
    log.info({ projection }, 'a read model of an earlier version is rebuilt')
    const { state, message } = await ended(id) ?? {}
    if (state === 'done') log.info({ projection }, message)
    if (state === 'failed') log.error({ projection }, `a read model could not be rebuilt: ${message}`)
  }

  async function ended (id: string): Promise<ActionReport | undefined> {
    while (!stopping.signal.aborted) {
      await pause(lookEveryMs, stopping.signal)
      const found = await findAction(pool, id).catch(() => undefined) // Postgres restarts
      if (found && found.state !== 'running') return found
    }
    return undefined
  }
}
