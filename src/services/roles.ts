// Starts the roles of a process on one services record. Stops them in time even if a back end is silent.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import type { App } from '../http/app-types.js'
import { buildStatusApp } from '../http/bare-app.js'
import { cutOff, knock } from '../postgres/pool.js'
import { endsWithin, pause, withTimeout } from '../timing.js'
import type { CompleteConfig } from './complete-config.js'
import type { Connections, Urls } from './connections.js'
import { rebuildOutdated, startProjector } from './projector.js'
import { openServices, type Role, type Services } from './services.js'
import { openStatus } from './status.js'
import type { StartedWorker } from './worker.js'

/** Loops that only poll have nothing to finish. */
const lookWithinMs = 1_000

const endsSoon = (stop: () => Promise<unknown>) => () => endsWithin(lookWithinMs, stop())

export type Service = Awaited<ReturnType<typeof startRoles>>

/** Runs the roles in this process until `stop`. `prepare` runs before, on the same connections. */
export async function startRoles (
  roles: readonly Role[], config: CompleteConfig, urls: Urls, log: Logger,
  prepare?: (connections: Connections) => Promise<void>
) {
  const leaving = new AbortController()
  let worker: StartedWorker | undefined
  const services = await openServices({ roles, config, urls, log, leaving: leaving.signal }, prepare)
  const stops: Array<() => Promise<unknown>> = [endsSoon(services.logGuard.keepChecking())]
  try {
    const app = await startParts()
    return {
      /** Where it listens, without BASE_PATH. */
      url: await listen(app, config),
      /** Fails readiness and ends each connection with its next answer; requests are still answered. */
      leave: () => leaving.abort(),
      stop
    }
  } catch (error) {
    await stop()
    throw error
  }

  /** Takes no new work, finishes work in flight, then disconnects. Does not wait for a silent back end. */
  async function stop () {
    leaving.abort()
    return await stopInTime(stopInOrder(), inReach(services, () => worker))
  }

  async function startParts (): Promise<App> {
    const status = openStatus(services, async () => { await worker?.assertAnswers() })
    stops.push(endsSoon(() => status.stop()))
    const { jwt, rateLimitPerMinute: perMinute } = config
    const { credentials } = services
    const app = roles.includes('api') // load no code that only another role needs
      ? await (await import('./api.js')).startApi(services, status)
      : await buildStatusApp({
        ...status, leaving: leaving.signal, logger: log, jwt, credentials, rateLimit: { perMinute }
      })
    const projector = roles.includes('projector') ? startProjector(services) : undefined
    stops.push(async () => {
      await app.close()
      await projector?.() // requests wait for its projections
    })
    if (projector && config.rebuildsProjections) stops.push(rebuildOutdated(services))
    if (roles.includes('worker')) {
      const { startWorker } = await import('./worker.js')
      worker = await startWorker(services, status.metrics)
      stops.push(worker.stop)
    }
    return app
  }

  /** Stops all parts at once: webhook attempts and slow clients may each take most of the time. */
  async function stopInOrder (): Promise<void> {
    await Promise.all(stops.splice(0).map((stopPart) => stopPart()))
    await services.close()
  }
}

function inReach (
  { urls: { databaseUrl }, pool, consumerPool }: Services, worker: () => StartedWorker | undefined
) {
  return {
    /** Rejects when Postgres does not answer, as `queue` does for Redis. */
    postgres: () => knock(databaseUrl, answersWithinMs),
    queue: async () => { await worker()?.assertAnswers() },
    /** Gives up running webhook attempts, to repeat them later: a receiver that hangs outlasts our shutdown. */
    handOver: () => worker()?.handOver(),
    /** Ends all connections to Postgres, so that pending statements fail at once. */
    cutOff: () => { for (const each of [pool, consumerPool]) cutOff(each) }
  }
}

/** Fails early: `startRoles` itself listens only after the back ends have started. */
export async function assertCanListen (config: Config): Promise<void> {
  const probe = createServer().listen(config.port, config.host)
  await once(probe, 'listening').catch((cause: unknown) => { throw cannotListen(config, cause) })
  await once(probe.close(), 'close')
}

async function listen (app: App, config: Config): Promise<string> {
  const { host, port } = config
  const { level } = app.log
  app.log.level = 'silent' // each command prints its URL; Fastify would print every address
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

/** Together with `lastWordsMs` less than five seconds. */
const silentMs = 3_000
const lastWordsMs = 1_300
const answersWithinMs = 1_500
const lookEveryMs = 200

type InReach = ReturnType<typeof inReach>

/**
 * Waits for `orderly`. Once a back end has been silent for three seconds, waits little more than one second longer.
 * What is not over by then continues, and nobody waits for it.
 */
async function stopInTime (orderly: Promise<unknown>, reach: InReach) {
  const over = new AbortController()
  const stopped = { postgresIsSilent: false }
  const giveUp = async () => {
    stopped.postgresIsSilent = await silence(reach, over.signal)
    reach.handOver()
    if (stopped.postgresIsSilent) reach.cutOff()
    await delay(lastWordsMs)
  }
  await Promise.race([orderly, giveUp()]).finally(() => over.abort())
  return stopped
}

/** Resolves when one of them has been silent for `silentMs`. @returns whether it is Postgres */
async function silence ({ postgres, queue }: InReach, over: AbortSignal): Promise<boolean> {
  let since: number | undefined
  for (;;) {
    await pause(lookEveryMs, over) // most stops are over by then
    if (over.aborted) return await new Promise(() => {})
    const askedAt = performance.now()
    const [postgresIsThere, queueIsThere] = await Promise.all([isThere(postgres()), isThere(queue())])
    since = postgresIsThere && queueIsThere ? undefined : since ?? askedAt
    if (since !== undefined && !over.aborted && performance.now() - since >= silentMs) return !postgresIsThere
  }
}

const isThere = (answer: Promise<unknown>) =>
  withTimeout(answersWithinMs, answer, () => new Error('it is silent')).then(() => true, () => false)
