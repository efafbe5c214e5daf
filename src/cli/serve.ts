// Runs roles until a signal, then drains.
import { join } from 'node:path'
import type { Role } from '../services/role.js'
import { assertCanListen, startRoles, type Service } from '../services/roles.js'
import { openTracing } from '../services/tracing.js'
import { packageRoot } from '../package-root.js'
import { importExampleOnce } from './catalog.js'
import { readSettings } from './running.js'
import { openBackEnds, type BackEnds } from './running.js'
import { completeConfig, type RunConfig } from './running.js'
import { logWarnings, openLog, voiceOf } from './output.js'
import type { Voice } from './output.js'
import { Shutdown } from './shutdown.js'

interface Running { config: RunConfig, backEnds: BackEnds, service: Service, voice: Voice }

/** `holder` says how the back ends are opened; `command` names the process to others on the same DATA_DIR. */
export async function serve (holder: 'start' | 'command', command: string, roles: Role[]): Promise<Running> {
  const misspelt: string[] = []
  const settings = readSettings((line) => { misspelt.push(line) })
  const config = await completeConfig(settings, holder === 'start')
  const opened = openLog(settings.logLevel)
  const { log } = opened
  const voice = voiceOf(opened)
  logWarnings(log)
  for (const line of misspelt) log.warn(line)
  const shutdown = new Shutdown(voice)
  return await shutdown.during(async (signal) => {
    const backEnds = await openBackEnds(settings, {
      role: holder,
      command,
      makes: holder === 'start' ? 'all' : 'tables',
      log: voice.say,
      listening: { port: config.port, assertCanListen: () => assertCanListen(config) }
    })
    let atOnce = false // known when the roles have stopped
    shutdown.add(() => backEnds.close({ atOnce }))
    shutdown.onLost(backEnds.lost)
    shutdown.add(await openTracing(config, log))
    signal.throwIfAborted()
    const takesExample = holder === 'start' && backEnds.embeddedIn !== undefined
    const service = await startRoles(roles, config, backEnds.urls, log, async (connections) => {
      const example = join(packageRoot, 'examples/catalog.json')
      if (takesExample) await importExampleOnce(connections, example, config, log)
      signal.throwIfAborted()
    })
    shutdown.add(async () => { atOnce = (await service.stop()).postgresIsSilent })
    shutdown.leaveFirst(settings.drainDelayMs, service.leave)
    signal.throwIfAborted()
    return { config, backEnds, service, voice }
  })
}
