// What workers do in the background, by kind.
import type { Background } from '../../../workers/background/start.js'
import type { BackgroundKinds } from '../../../workers/background/kind.js'
import type { ProcessContext } from '../process-context.js'
import { leadImportsOf } from './lead-imports.js'

/** Loads it when it is called, as the worker does. */
export async function startBackgroundOf (context: ProcessContext): Promise<Background> {
  const { urls, connections: { consumerPool: pool }, restoreGuard, holder, log } = context
  const { startBackground } = await import('../../../workers/background/start.js')
  const { databaseUrl, redisUrl } = urls
  const kinds: BackgroundKinds = { 'lead-import': await leadImportsOf(context) }
  return await startBackground({ pool, databaseUrl, redisUrl, kinds, holder, log, mayWork: restoreGuard.maySend })
}
