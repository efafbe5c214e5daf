// `ringledger demo`: the main job on real input, start to end. Fakes nothing and leaves nothing behind.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../config.js'
import { startRoles } from '../services/roles.js'
import { openConnections } from '../services/connections.js'
import { packageRoot, packageVersion } from '../package-root.js'
import { importAndProject, readCatalogFile } from './catalog.js'
import { openReceiver, runJourney, Timeline } from './journey.js'
import { openLog } from './output.js'
import { completeConfig, openBackEnds } from './running.js'
import { Shutdown } from './shutdown.js'
import { signToken } from './token.js'

/** Exits with 0 only if every step succeeded. */
export async function demo ({ json = false }: { json?: boolean }): Promise<void> {
  const shutdown = new Shutdown()
  let held = false
  shutdown.add(async () => { if (!held) throw new Error('the demo was stopped before its end') })
  await shutdown.during(async (signal) => {
    const timeline = new Timeline(`Ringledger ${packageVersion}: the main job, end to end`, signal, json)
    const dataDir = await mkdtemp(join(tmpdir(), 'ringledger-demo-'))
    const { removeDataDir } = await import('@ringledger/embedded-postgres')
    const closing = [async () => { removeDataDir(dataDir) }]
    const close = async () => { for (let step = closing.pop(); step; step = closing.pop()) await step() }
    try {
      await play(timeline, demoConfig(dataDir), closing, signal)
    } finally {
      await timeline.lastStep('stop', 'service', async () => {
        await close()
        return 'drained; the temporary data directory is gone'
      })
      timeline.end()
    }
  })
  held = true
}

async function play (
  timeline: Timeline, settings: Config, closing: Array<() => Promise<unknown>>, signal: AbortSignal
): Promise<void> {
  const config = await completeConfig(settings, true)
  const { log } = openLog(settings.logLevel)
  const urls = await timeline.step('start back ends', 'embedded', async () => {
    const backEnds = await openBackEnds(settings, { role: 'start', command: 'ringledger demo', makes: 'all', log: () => {} })
    closing.push(backEnds.close)
    return [backEnds.urls, 'Postgres (fsync on) and the event store, each a process of its own'] as const
  })
  await timeline.step('import the catalogue', 'event store', async () => {
    const connections = await openConnections(urls, config, log)
    try {
      const example = await readCatalogFile(join(packageRoot, 'examples/catalog.json'))
      await importAndProject(connections, example, config, log)
    } finally {
      await connections.close()
    }
    return 'voices, languages, models, campaigns and phone numbers, appended and projected'
  })
  const service = await timeline.step('start the service', 'api, projector, worker', async () => {
    const running = await startRoles(['api', 'projector', 'worker'], config, urls, log)
    closing.push(running.stop)
    return [running, `listening on ${running.url}`] as const
  })
  const receiver = await openReceiver(signal)
  closing.push(receiver.close)
  const tokens = {
    user: await signToken(config.jwt, { user: '1', ttl: '5m' }),
    engine: await signToken(config.jwt, { user: 'engine', role: 'engine', ttl: '5m' })
  }
  await runJourney({ url: service.url, tokens, receiver, timeline, signal })
}

/** Allows a receiver on this machine, and makes the second attempt after one second instead of five. */
function demoConfig (dataDir: string): Config {
  return loadConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    EMBEDDED_EVENTSTORE_PORT: '0',
    LOG_LEVEL: process.env.LOG_LEVEL || 'error',
    WEBHOOK_ALLOW_HTTP: 'true',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    WEBHOOK_SCHEDULE: '0s,1s,2s'
  })
}
