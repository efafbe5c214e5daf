// The only file that constructs clients and wires the parts to each other.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import { Redis } from 'ioredis'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { assistants } from '../projections/assistants.js'
import { calls } from '../projections/calls.js'
import { catalog } from '../projections/catalog.js'
import { ensureProjections, outdated } from '../projections/generations.js'
import { leads } from '../projections/leads.js'
import { listenForPositions, type Positions } from '../projections/positions.js'
import type { Projection } from '../projections/projection.js'
import { openReadModel } from '../projections/read-model.js'
import { projectionConsumer } from '../projections/run.js'
import { assistantHistory } from './assistant-history.js'
import { reachable } from './back-end-unreachable.js'
import { callOwners } from './call-owners.js'
import { keyBytes, type Config, type Secrets } from './config.js'
import { runConsumer } from './consumer/run.js'
import { openStreams, type Streams } from './event-store/streams.js'
import { commandHandler } from './handle-command.js'
import type { App } from './http/app-types.js'
import type { JwtSettings } from './http/auth.js'
import type { HealthChecks } from './http/health.js'
import { openIdempotency } from './idempotency.js'
import { openIds } from './ids.js'
import { holdToLeadDigestKey, leadDigest } from './lead-digest.js'
import { packageRoot, packageVersion } from './package-root.js'
import { migrate } from './postgres/migrate.js'
import { openPool } from './postgres/pool.js'
import { readPositions } from './read-positions.js'

export type Role = 'api' | 'projector' | 'worker'
export const projections: readonly Projection[] = [assistants, leads, calls, catalog]

/** Where the back ends are, after the embedded ones have started. */
export interface Urls {
  databaseUrl: string
  eventStoreUrl: string
  redisUrl?: string | undefined
}

/** The client waits for streams of a dead server to end, which may be never. */
const disposeWithinMs = 1_000

/** A request waits no longer for its count. */
const countWithinMs = 250

/** Postgres answers a request within this time, or the request fails. */
const answerWithinMs = 5_000

/** A consumer whose batch takes longer begins it anew. */
const batchWithinMs = 30_000

/** Between two removals of expired idempotency keys. */
const sweepEveryMs = 10 * 60_000

export interface Parts {
  pool: Pool
  /** For consumers: a session that stalls inside a transaction is ended, so that a frozen owner holds no rows. */
  consumerPool: Pool
  client: EventStoreDBClient
  streams: Streams
  positions: Positions
  close (): Promise<void>
}

export interface PartsOptions {
  /** How long a statement of `pool` may take, in milliseconds; as long as it likes when absent. */
  answerWithinMs?: number
}

/** Connects to the back ends and brings the database up to date. @throws BackEndUnreachable, saying which one and how to mend it */
export async function openParts ({ databaseUrl, eventStoreUrl }: Urls, log: Logger, { answerWithinMs }: PartsOptions = {}): Promise<Parts> {
  await reachable('Postgres', 'DATABASE_URL', migrate(databaseUrl, packageRoot))
  const onError = (error: Error) => log.warn({ err: error }, 'lost a connection to Postgres')
  const pool = openPool(databaseUrl, { applicationName: 'ringledger', max: 20, answerWithinMs, onError })
  const consumerPool = openPool(databaseUrl, { applicationName: 'ringledger consumer', max: 20, answerWithinMs: batchWithinMs, stalledAfterMs: 3_000, onError })
  const client = EventStoreDBClient.connectionString(eventStoreUrl.replace(/^kurrentdb/, 'esdb'))
  const streams = openStreams(client)
  const disconnect = async () => {
    await Promise.race([client.dispose(), delay(disposeWithinMs)])
    await Promise.all([pool.end(), consumerPool.end()])
  }
  try {
    await ensureProjections(pool, projections)
    await reachable('The event store', 'EVENTSTORE_URL', streams.head())
  } catch (error) {
    await disconnect()
    throw error
  }
  const positions = listenForPositions(databaseUrl, pool, onError)
  const close = async () => {
    await positions.close()
    await disconnect()
  }
  return { pool, consumerPool, client, streams, positions, close }
}

/** Config with every secret there is: set, or generated. */
export type CompleteConfig = Config & { jwt: JwtSettings, secrets: Pick<Secrets, 'secretKey' | 'leadDigestKey'> }

export interface Service {
  /** Where it listens, without BASE_PATH. */
  url: string
  /** Takes no new work, finishes what is in flight, then disconnects. */
  stop (): Promise<void>
}

/** Runs the roles in this process until `stop`; `prepare` comes first, on the same connections. */
export async function startRoles (roles: readonly Role[], config: CompleteConfig, urls: Urls, log: Logger, prepare?: (parts: Parts) => Promise<void>): Promise<Service> {
  const parts = await openParts(urls, log, { answerWithinMs })
  const holder = `${hostname()} ${process.pid} ${randomUUID().slice(0, 8)}`
  const stops: Array<() => Promise<void>> = []
  try {
    for (const each of await outdated(parts.pool, projections)) log.warn(each, 'a read model was folded by another version of its projection: replay it')
    await prepare?.(parts)
    const checks = healthChecks(parts)
    const app = roles.includes('api') ? await composeApi(config, urls, parts, checks, log) : (await import('./app.js')).buildHealthApp(log, checks)
    stops.push(() => app.close())
    if (roles.includes('projector')) stops.push(startProjector(parts, holder, log))
    if (roles.includes('worker')) stops.push(await startWorker(config, urls, parts, holder, log))
    const url = await app.listen({ host: config.host, port: config.port }).catch((cause: unknown) => { throw cannotListen(config, cause) })
    return { url, stop }
  } catch (error) {
    await stop()
    throw error
  }

  async function stop (): Promise<void> {
    for (const stopPart of stops.splice(0)) await stopPart()
    await parts.close()
  }
}

function cannotListen ({ host, port }: Config, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new Error(`HOST ${host}, PORT ${port} cannot be listened on: ${reason}. Choose others, or end what has them.`, { cause })
}

function healthChecks ({ pool, streams }: Parts): HealthChecks {
  return { postgres: () => pool.query('SELECT 1'), eventStore: () => streams.head() }
}

/** The HTTP side is loaded on demand, so that other commands begin sooner. */
async function composeApi (config: CompleteConfig, { redisUrl }: Urls, parts: Parts, checks: HealthChecks, logger: Logger): Promise<App> {
  const { pool, streams, positions } = parts
  const [{ buildApp }, { webhookUrlProblem }, { currentSecret }, { findSuspension }, { findDeliveries }] = await Promise.all([
    import('./app.js'), import('../workers/guard.js'), import('../workers/secrets.js'), import('../workers/endpoints.js'), import('../workers/find-deliveries.js')
  ])
  const keys = secretKeys(config)
  const digest = leadDigest(keyBytes(config.secrets.leadDigestKey))
  await holdToLeadDigestKey(streams, digest)
  const head = await streams.head()
  const isCaughtUp = async () => (await Promise.all(['assistants', 'leads'].map((name) => positions.reached(name, head, config.readModelWaitMs)))).every(Boolean)
  const readModel = openReadModel(pool)
  const commands = commandHandler(streams)
  const idempotency = openIdempotency(pool, commands)
  const readYourWrite = { reached: positions.reached, waitMs: config.readModelWaitMs }
  const owners = callOwners({
    streams,
    findLeadOwner: readModel.findLeadOwner,
    waitForLeads: (position) => positions.reached('leads', position, config.readModelWaitMs)
  })
  const redis = redisUrl === undefined ? undefined : connectForCounts(redisUrl, logger)
  const app = await buildApp({
    logger,
    basePath: config.basePath,
    jwt: config.jwt,
    rateLimit: { perMinute: config.rateLimitPerMinute, redis },
    healthChecks: checks,
    routes: {
      handle: commands.handle,
      idempotency,
      readModel,
      ids: openIds(pool, isCaughtUp),
      readYourWrite,
      readPositions: readPositions(positions, streams, config.readModelWaitMs),
      assistantHistory: assistantHistory(streams),
      suspensionOf: (userId, url) => findSuspension(pool, userId, url),
      deliveriesOf: (userId, callId) => findDeliveries(pool, userId, callId),
      digest,
      owners,
      webhookUrlProblem: (url) => webhookUrlProblem(url, config.webhook),
      webhookSecret: async (userId) => ({ secret: await currentSecret(pool, keys, userId), previous: null })
    }
  })
  const sweeping = setInterval(() => {
    idempotency.removeExpired().catch((error: unknown) => logger.warn({ err: error }, 'expired idempotency keys were not removed'))
  }, sweepEveryMs)
  app.addHook('onClose', async () => {
    clearInterval(sweeping)
    redis?.disconnect()
  })
  return app
}

/** For counts that nobody waits for: whatever is not answered at once fails, also while Redis is down or frozen. */
function connectForCounts (redisUrl: string, log: Logger): Redis {
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 2_000,
    commandTimeout: countWithinMs,
    socketTimeout: countWithinMs, // gives a frozen connection up, so that only the first request waits for it
    retryStrategy: (times) => Math.min(times * 200, 2_000)
  })
  redis.on('error', (error: Error) => log.debug({ err: error }, 'Redis, which counts requests, cannot be reached'))
  return redis
}

function startProjector ({ consumerPool, streams }: Parts, holder: string, log: Logger): () => Promise<void> {
  const stopping = new AbortController()
  const running = projections.map((projection) =>
    runConsumer(projectionConsumer(projection, consumerPool), { pool: consumerPool, streams, holder, signal: stopping.signal, log }))
  return async () => {
    stopping.abort()
    await Promise.all(running)
  }
}

/** Webhook secrets are encrypted with the current key and still read with the previous one. */
function secretKeys ({ secrets, previousSecretKey }: CompleteConfig): { current: Buffer, previous: Buffer[] } {
  return { current: keyBytes(secrets.secretKey), previous: previousSecretKey ? [keyBytes(previousSecretKey)] : [] }
}

/** Loaded on demand: a process that only replays projections has no code that could send. */
async function startWorker (config: CompleteConfig, urls: Urls, { consumerPool, streams }: Parts, holder: string, log: Logger): Promise<() => Promise<void>> {
  const [{ startWorkers }, { parseSchedule }] = await Promise.all([import('../workers/start.js'), import('../workers/schedule.js')])
  const { webhook } = config
  const { current, previous } = secretKeys(config)
  const workers = startWorkers({
    pool: consumerPool,
    streams,
    databaseUrl: urls.databaseUrl,
    redisUrl: urls.redisUrl,
    holder,
    log,
    webhook: { ...webhook, schedule: parseSchedule(webhook.schedule) },
    secretKey: current,
    previousSecretKeys: previous,
    version: packageVersion
  })
  await workers.ready
  return () => workers.stop()
}
