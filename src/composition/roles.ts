// Starts the roles of a process on one set of connections, and stops them.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { projections } from '../../projections/index.js'
import { outdated } from '../../projections/replay/generations.js'
import { activeCheckpoint } from '../../projections/replay/views.js'
import type { Config } from '../config.js'
import type { App } from '../http/app-types.js'
import { endsWithin } from '../postgres/ends-within.js'
import { findLimitedStreams } from '../recovery/limited-streams.js'
import { openLogGuard } from '../recovery/log-guard.js'
import { registerRoles } from '../recovery/register-roles.js'
import type { ReadUpTo } from '../recovery/other-log.js'
import { openRestoreGuard } from '../recovery/restore-guard.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import { composeApi } from './api/api.js'
import type { CompleteConfig } from './complete-config.js'
import { openConnections, type Connections, type Urls } from './connections.js'
import type { ProcessContext } from './process-context.js'
import { startProjector } from './projector.js'
import type { Role } from './role.js'
import { openStatus, type Status } from './status/status.js'
import { startWorker, type StartedWorker } from './worker.js'

/** Postgres answers a request within this time, or the request fails. */
const answerWithinMs = 5_000
/** A batch has a few megabytes at most. A connection that died without a word stops its consumer for so long. */
const batchWithinMs = 10_000

/** What only looks again and again has nothing to finish. */
const lookWithinMs = 1_000

type Stops = Array<() => Promise<unknown>>

export interface Service {
  /** Where it listens, without BASE_PATH. */
  url: string
  /** Takes no new work, finishes what is in flight, then disconnects. */
  stop (): Promise<void>
}

type Prepare = (connections: Connections) => Promise<void>

/** Runs the roles in this process until `stop`; `prepare` comes first, on the same connections. */
export async function startRoles (
  roles: readonly Role[], config: CompleteConfig, urls: Urls, log: Logger, prepare?: Prepare
): Promise<Service> {
  const connections = await openConnections(urls, log, { answerWithinMs, batchWithinMs })
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const stops: Stops = []
  let unregister = async () => {}
  try {
    unregister = await registerRoles({ pool: connections.pool, roles, holder })
    const logGuard = openLogGuard({ ...connections, readUpTo: () => projectionCheckpoints(connections), log })
    await logGuard.assertSoon()
    const restoreGuard = openRestoreGuard({ ...connections, log })
    await restoreGuard.check()
    await warnOfOldGenerations(connections, log)
    await tellLimitedStreams(connections, log)
    await prepare?.(connections)
    const context = { roles, config, urls, connections, restoreGuard, logGuard, holder, log }
    const stopChecking = logGuard.keepChecking()
    stops.push(() => endsWithin(lookWithinMs, stopChecking()))
    const app = await startParts(context, stops)
    const { host, port } = config
    const url = await app.listen({ host, port }).catch((cause: unknown) => { throw cannotListen(config, cause) })
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }

  /** Requests end before the projector does: they wait for it. */
  async function stop (): Promise<void> {
    for (const stopPart of stops.splice(0)) await stopPart()
    await unregister()
    await connections.close()
  }
}

/** Starts what the roles need, and adds how to stop it to `stops`. */
async function startParts (context: ProcessContext, stops: Stops): Promise<App> {
  const { roles } = context
  let worker: StartedWorker | undefined
  const status = await openStatus(context, () => worker?.assertAlive())
  stops.push(() => endsWithin(lookWithinMs, status.stop()))
  const app = roles.includes('api') ? await composeApi(context, status) : await statusApp(context, status)
  stops.push(() => app.close())
  if (roles.includes('projector')) stops.push(startProjector(context))
  if (roles.includes('worker')) {
    worker = await startWorker(context, status)
    stops.push(worker.stop)
  }
  return app
}

async function statusApp (
  { config: { jwt, rateLimitPerMinute: perMinute }, log }: ProcessContext, status: Status
): Promise<App> {
  const { buildStatusApp } = await import('../app.js')
  return await buildStatusApp({ ...status, logger: log, jwt, rateLimit: { perMinute } })
}

async function warnOfOldGenerations ({ pool }: Connections, log: Logger): Promise<void> {
  for (const each of await outdated(pool, projections)) {
    log.warn(each, 'a read model was folded by another version of its projection: replay it')
  }
}

async function tellLimitedStreams ({ streams }: Connections, log: Logger): Promise<void> {
  for (const { problem, ...about } of await findLimitedStreams(streams)) log.error(about, problem)
}

async function projectionCheckpoints ({ pool }: Connections): Promise<ReadUpTo[]> {
  return await Promise.all(projections.map(async ({ name }) => {
    const position = await readCheckpoint(pool, activeCheckpoint(name))
    return { name: `the projection ${name}`, position }
  }))
}

function cannotListen ({ host, port }: Config, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const refused = `HOST ${host}, PORT ${port} cannot be listened on: ${reason}`
  return new Error(`${refused}. Choose others, or end what has them.`, { cause })
}
