// Starts the roles of a process on one set of connections, and stops them.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import { outdated } from '../../projections/replay/generations.js'
import { activeCheckpoint } from '../../projections/replay/views.js'
import { composeApi } from './api.js'
import type { CompleteConfig } from './complete-config.js'
import { openConnections, type Connections, type Urls } from './connections.js'
import type { Role } from './role.js'
import { projections } from '../../projections/index.js'
import { startProjector } from './projector.js'
import { openStatus } from './status.js'
import { startWorker } from './worker.js'
import type { Config } from '../config.js'
import { readCheckpoint } from '../subscriptions/checkpoint.js'
import { openRestoreGuard } from '../recovery/restore-guard.js'
import { refuseOtherLog, type ReadUpTo } from '../recovery/other-log.js'

/** Postgres answers a request within this time, or the request fails. */
const answerWithinMs = 5_000

export interface Service {
  /** Where it listens, without BASE_PATH. */
  url: string
  /** Takes no new work, finishes what is in flight, then disconnects. */
  stop (): Promise<void>
}

/** Runs the roles in this process until `stop`; `prepare` comes first, on the same connections. */
export async function startRoles (roles: readonly Role[], config: CompleteConfig, urls: Urls, log: Logger, prepare?: (connections: Connections) => Promise<void>): Promise<Service> {
  const connections = await openConnections(urls, log, { answerWithinMs })
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const stops: Array<() => Promise<void>> = []
  try {
    await refuseOtherLog(connections.pool, connections.streams, await projectionCheckpoints(connections))
    const restoreGuard = openRestoreGuard({ ...connections, log })
    await restoreGuard.check()
    for (const each of await outdated(connections.pool, projections)) log.warn(each, 'a read model was folded by another version of its projection: replay it')
    await prepare?.(connections)
    const status = await openStatus(roles, config, connections, restoreGuard, holder, log)
    stops.push(status.stop)
    const { jwt, rateLimitPerMinute: perMinute } = config
    const app = roles.includes('api')
      ? await composeApi(config, urls, connections, restoreGuard, status, log)
      : await (await import('../app.js')).buildStatusApp({ ...status, logger: log, jwt, rateLimit: { perMinute } })
    stops.push(() => app.close())
    if (roles.includes('projector')) stops.push(startProjector(connections, holder, log))
    if (roles.includes('worker')) stops.push(await startWorker(config, urls, connections, restoreGuard, holder, log))
    const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => { throw cannotListen(config, cause) })
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop (): Promise<void> {
    for (const stopPart of stops.splice(0)) await stopPart()
    await connections.close()
  }
}

function cannotListen ({ host, port }: Config, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`HOST ${host}, PORT ${port} cannot be listened on: ${reason}. Choose others, or end what has them.`, { cause })
}

async function projectionCheckpoints ({ pool }: Connections): Promise<ReadUpTo[]> {
  return await Promise.all(projections.map(async ({ name }) => ({ name: `the projection ${name}`, position: await readCheckpoint(pool, activeCheckpoint(name)) })))
}
