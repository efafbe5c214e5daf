// What workers do in the background, by kind.
import type { Background } from '../../../workers/background/start.js'
import type { BackgroundKinds } from '../../../workers/background/kind.js'
import type { Metrics } from '../../http/metrics.js'
import type { Services } from '../services.js'
import { measureBackground, observeImports } from '../status/background-metrics.js'
import { erasuresOf, lateCallsOf } from './erasures.js'
import { leadImportsOf } from './lead-imports.js'

/** Loads it when it is called, as the worker does. */
export async function startBackgroundOf (context: Services, metrics: Metrics): Promise<Background> {
  const { urls, connections: { consumerPool: pool, notifications }, restoreGuard, holder, log } = context
  const [{ startBackground }, { countUnfinished }] = await Promise.all([
    import('../../../workers/background/start.js'), import('../../../workers/background/counts.js')
  ])
  const { databaseUrl, redisUrl } = urls
  const kinds: BackgroundKinds = {
    'lead-import': await leadImportsOf(context, observeImports(metrics)),
    'person-erasure': await erasuresOf(context),
    'late-call-erasure': await lateCallsOf(context)
  }
  measureBackground(metrics, Object.keys(kinds), () => countUnfinished(context.connections.pool))
  const { maySend: mayWork } = restoreGuard
  return await startBackground({ pool, notifications, databaseUrl, redisUrl, kinds, holder, log, mayWork })
}
