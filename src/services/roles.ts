// Starts the roles of a process on one set of connections, and stops them.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { App } from '../http/app-types.js'
import { endsWithin } from '../postgres/ends-within.js'
import { cutOff, knock } from '../postgres/pool.js'
import { openLogGuard } from '../recovery/log-guard.js'
import { registerRoles } from '../recovery/register-roles.js'
import { openRestoreGuard } from '../recovery/restore-guard.js'
import { composeApi } from './api/api.js'
import { refuseLostKeysAtStart } from '../privacy/rewrap.js'
import { secretKeys, type CompleteConfig } from './complete-config.js'
import { openConnections, type Connections, type Urls } from './connections.js'
import { openCredentials } from './credentials.js'
import { lookAtStart, projectionCheckpoints } from './look-at-start.js'
import type { Services } from './services.js'
import { rebuildOutdated } from './ops/rebuild.js'
import { startPersons } from './persons/person-work.js'
import { startProjector } from './projector.js'
import type { Role } from './role.js'
import { openStatus, type Status } from './status/status.js'
import { stopInTime, type InReach, type Stopped } from './stop-in-time.js'
import { startWorker, type StartedWorker } from './worker/worker.js'

/** Postgres answers a request within this time, or the request fails. */
const answerWithinMs = 5_000
/** A batch has a few megabytes at most. A connection that died without a word stops its consumer for so long. */
const batchWithinMs = 10_000

/** What only looks again and again has nothing to finish. */
const lookWithinMs = 1_000

const endsSoon = (stop: () => Promise<unknown>) => () => endsWithin(lookWithinMs, stop())

type Stops = Array<() => Promise<unknown>>

export interface Service {
  /** Where it listens, without BASE_PATH. */
  url: string
  /** From now on it is not ready, and asks its clients to connect anew; it goes on answering. */
  leave (): void
  /** Takes no new work, finishes what is in flight, then disconnects; it does not wait for a silent back end. */
  stop (): Promise<Stopped>
}

type Prepare = (connections: Connections) => Promise<void>

/** Runs the roles in this process until `stop`; `prepare` comes first, on the same connections. */
export async function startRoles (
  roles: readonly Role[], config: CompleteConfig, urls: Urls, log: Logger, prepare?: Prepare
): Promise<Service> {
  const { readModelWaitMs } = config
  const connections = await openConnections(urls, config, log, { answerWithinMs, batchWithinMs, readModelWaitMs })
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const [stops, lastStops]: [Stops, Stops] = [[], []]
  let isLeaving = false
  let worker: StartedWorker | undefined
  try {
    lastStops.push(await registerRoles({ pool: connections.consumerPool, roles, holder }))
    const logGuard = openLogGuard({ ...connections, readUpTo: () => projectionCheckpoints(connections), log })
    connections.positions.refuseWhile(logGuard.problem)
    await logGuard.assertSoon()
    const restoreGuard = openRestoreGuard({ ...connections, log })
    await restoreGuard.check()
    await refuseLostKeysAtStart({ ...connections, secretKeys: secretKeys(config) })
    await lookAtStart(connections, log)
    await prepare?.(connections)
    const credentials = openCredentials({ connections, log })
    lastStops.push(endsSoon(() => credentials.close()))
    const own = { credentials, holder, log, isLeaving: () => isLeaving }
    const context = { roles, config, urls, connections, restoreGuard, logGuard, ...own }
    stops.push(endsSoon(logGuard.keepChecking()))
    const app = await startParts(context, stops, (started) => { worker = started })
    return { url: await listen(app, config), leave: () => { isLeaving = true }, stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop (): Promise<Stopped> {
    isLeaving = true
    return await stopInTime(stopInOrder(), inReach(urls, connections, () => worker))
  }

  /** The parts at once: attempts of webhooks and slow clients may each take most of the time. */
  async function stopInOrder (): Promise<void> {
    await Promise.all(stops.splice(0).map((stopPart) => stopPart()))
    for (const stopPart of lastStops.splice(0)) await stopPart()
    await connections.close()
  }
}

function inReach (
  { databaseUrl }: Urls, { pool, consumerPool }: Connections, worker: () => StartedWorker | undefined
): InReach {
  return {
    postgres: (withinMs) => knock(databaseUrl, withinMs),
    queue: async () => { await worker()?.assertAnswers() },
    handOver: () => worker()?.handOver(),
    cutOff: () => { for (const each of [pool, consumerPool]) cutOff(each) }
  }
}

/** Starts what the roles need, and adds how to stop it to `stops`. */
async function startParts (
  context: Services, stops: Stops, onWorker: (worker: StartedWorker) => void
): Promise<App> {
  const { roles } = context
  let worker: StartedWorker | undefined
  const status = await openStatus(context, async () => { await worker?.assertAnswers() })
  stops.push(endsSoon(() => status.stop()))
  const app = roles.includes('api') ? await composeApi(context, status) : await statusApp(context, status)
  const projector = roles.includes('projector') ? startProjector(context) : undefined
  stops.push(async () => {
    await app.close()
    await projector?.() // requests wait for it
  })
  if (projector && context.config.rebuildsProjections) stops.push(rebuildOutdated(context))
  if (roles.includes('worker')) {
    worker = await startWorker(context, status)
    onWorker(worker)
    stops.push(await startPersons(context), worker.stop)
  }
  return app
}

async function statusApp (
  { config: { jwt, rateLimitPerMinute: perMinute }, credentials, log, isLeaving }: Services, status: Status
): Promise<App> {
  const { buildStatusApp } = await import('../app.js')
  return await buildStatusApp({ ...status, isLeaving, logger: log, jwt, credentials, rateLimit: { perMinute } })
}

/** @throws as `startRoles` does, which asks only after the back ends have started */
export async function assertCanListen (config: Config): Promise<void> {
  const probe = createServer().listen(config.port, config.host)
  await once(probe, 'listening').catch((cause: unknown) => { throw cannotListen(config, cause) })
  await once(probe.close(), 'close')
}

async function listen (app: App, config: Config): Promise<string> {
  const { host, port } = config
  const { level } = app.log
  app.log.level = 'silent' // each command says where it listens, and Fastify would, for each address
  try {
    return await app.listen({ host, port })
  } catch (cause) {
    throw cannotListen(config, cause)
  } finally {
    app.log.level = level
  }
}

function cannotListen ({ host, port }: Config, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const refused = `HOST ${host}, PORT ${port} cannot be listened on: ${reason}`
  return new Error(`${refused}. Choose others, or end what has them.`, { cause })
}
