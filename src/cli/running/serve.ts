// Runs roles until a signal, then drains.
import { join } from 'node:path'
import type { Role } from '../../composition/role.js'
import { startRoles, type Service } from '../../composition/roles.js'
import { loadConfig } from '../../config.js'
import { packageRoot } from '../../package-root.js'
import { importExampleOnce } from '../catalog/import-example-once.js'
import { openBackEnds, type BackEnds } from './back-ends.js'
import { completeConfig, type RunConfig } from './complete-config.js'
import { openLog } from './log.js'
import { onShutdown } from './shutdown.js'

interface Running { config: RunConfig, backEnds: BackEnds, service: Service }

/** `holder` says how the back ends are opened; `command` names the process to others on the same DATA_DIR. */
export async function serve (holder: 'start' | 'command', command: string, roles: Role[]): Promise<Running> {
  const settings = loadConfig(process.env)
  const config = await completeConfig(settings)
  const log = openLog(settings.logLevel)
  const shutdown = onShutdown()
  return await shutdown.during(async (signal) => {
    const backEnds = await openBackEnds(settings, holder, command)
    shutdown.add(backEnds.close)
    shutdown.onLost(backEnds.lost)
    signal.throwIfAborted()
    const takesExample = holder === 'start' && backEnds.embeddedIn !== undefined
    const service = await startRoles(roles, config, backEnds.urls, log, async (connections) => {
      if (takesExample) await importExampleOnce(connections, log, join(packageRoot, 'examples/catalog.json'))
      signal.throwIfAborted()
    })
    shutdown.add(service.stop)
    signal.throwIfAborted()
    return { config, backEnds, service }
  })
}
