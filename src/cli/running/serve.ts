// `ringledger start`, `api`, `projector` and `worker`: run roles until a signal, then drain.
import { join } from 'node:path'
import { loadConfig } from '../../config.js'
import type { Role } from '../../composition/role.js'
import { startRoles } from '../../composition/roles.js'
import { packageRoot } from '../../package-root.js'
import { completeConfig, openBackEnds, openLog, say } from './back-ends.js'
import { importExampleOnce } from './example-catalog.js'
import { onShutdown } from './shutdown.js'
import { welcome } from './welcome.js'

/** All roles in one process, with embedded back ends where no URL is set. */
export async function start (): Promise<void> {
  const { config, backEnds, service } = await run('start', 'ringledger start', ['api', 'projector', 'worker'])
  await backEnds.publish({ url: service.url })
  process.stdout.write(await welcome(service.url, config, backEnds.embeddedIn))
}

/** One role on back ends that are all set, or on the running stack of DATA_DIR. */
export async function serve (role: Role): Promise<void> {
  const { service } = await run('command', `ringledger ${role}`, [role])
  say(`Ringledger ${role} is listening on ${service.url}`)
}

async function run (holder: 'start' | 'command', command: string, roles: Role[]) {
  const settings = loadConfig(process.env)
  const config = await completeConfig(settings)
  const log = openLog(settings)
  const shutdown = onShutdown()
  return await shutdown.during(async (signal) => {
    const backEnds = await openBackEnds(settings, holder, command)
    shutdown.add(backEnds.close)
    shutdown.onLost(backEnds.lost)
    signal.throwIfAborted()
    const service = await startRoles(roles, config, backEnds.urls, log, async (connections) => {
      if (holder === 'start' && backEnds.embeddedIn) await importExampleOnce(connections, log, join(packageRoot, 'examples/catalog.json'))
      signal.throwIfAborted()
    })
    shutdown.add(service.stop)
    signal.throwIfAborted()
    return { config, backEnds, service }
  })
}
