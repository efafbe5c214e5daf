// Opens the connections that every role and command needs.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { Positions } from '../../projections/engine/positions.js'
import { activePositions, ensureProjections, filledAt } from '../../projections/engine/generations.js'
import { Notifications } from '../postgres/notifications.js'
import { projections } from '../../projections/index.js'
import { eventVersions } from '../domain/events.js'
import { EventStoreConnection } from '../log/connection.js'
import { EventLog, type OutageLog, type Streams } from '../log/event-log.js'
import { packageRoot } from '../package-root.js'
import { openLogGuard } from '../recovery/log-guard.js'
import { endsWithin } from '../timing.js'
import { compareMigrations, migrate } from '../postgres/migrate.js'
import { openPool } from '../postgres/pool.js'
import { keyTypes, personCodec } from '../privacy/events.js'
import { PersonKeys } from '../privacy/person-keys.js'
import { digestOfNumbers, secretKeys, type KeySettings } from './complete-config.js'
import { reachableHead, reachablePostgres } from './back-end-unreachable.js'

/** The URLs of the back ends, known once the embedded ones have started. */
export interface Urls {
  databaseUrl: string
  eventStoreUrl: string
  redisUrl?: string | undefined
  /** The data directory of the embedded Postgres. */
  dataIn?: string | undefined
}

/** Statement timeout of batches in CLI commands; roles have a shorter one. The consumer repeats a batch that fails. */
const usualBatchMs = 30_000

/** Postgres ends a session that idles longer inside a transaction, so that a frozen process keeps no rows locked. */
const stalledAfterMs = 3_000

/** Per pool; there are two. The table in docs/operations.md is derived from it. */
export const mostConnections = 20

/** `pool.end` waits for the last query, which may be on a dead connection. */
const endWithinMs = 2_000

/** Consumers get no events of person keys. */
const consumedTypes = Object.keys(eventVersions).filter((type) => !keyTypes.includes(type))

export type Connections = Awaited<ReturnType<typeof openConnections>>

interface ConnectionOptions {
  /** Statement timeout of `pool`, in milliseconds; none when absent. */
  answerWithinMs?: number
  /** Statement timeout of `consumerPool`, in milliseconds. */
  batchWithinMs?: number
  /** How long a response waits until read models have reached a position, in milliseconds. */
  readModelWaitMs?: number
}

/** Connects to the back ends and migrates the database. @throws BackEndUnreachable, OtherVersion */
export async function openConnections (
  urls: Urls, settings: KeySettings, log: Logger, options: ConnectionOptions = {}
) {
  const { databaseUrl, eventStoreUrl } = urls
  const { answerWithinMs, batchWithinMs = usualBatchMs, readModelWaitMs: waitMs } = options
  const { onError, onAnswer } = postgresOutages(log)
  const common = { max: mostConnections, onError }
  const pool = openPool(databaseUrl, { ...common, applicationName: 'ringledger', answerWithinMs })
  const consumerPool = openPool(databaseUrl, {
    ...common, applicationName: 'ringledger consumer', answerWithinMs: batchWithinMs, stalledAfterMs
  })
  const connection = new EventStoreConnection(eventStoreUrl)
  const streams = new EventLog(connection, { outages: log, shared: { eventTypes: consumedTypes } })
  const sealing = openSealing(streams, pool, settings)
  const disconnect = async () => {
    streams.close()
    const ended = [pool, consumerPool].map((each) => endsWithin(endWithinMs, each.end()))
    await Promise.all([connection.close(), ...ended])
  }
  try {
    await reachablePostgres(databaseUrl, async () => {
      if ((await compareMigrations(pool, packageRoot)).missing.length > 0) await migrate(databaseUrl, packageRoot)
    })
    await reachableHead({ url: eventStoreUrl }, () => new EventLog(connection).head())
    await ensureProjections(pool, projections, () => filledAt(streams, projections))
  } catch (error) {
    await disconnect()
    throw error
  }
  const logGuard = openLogGuard({ pool, streams, readUpTo: () => activePositions(pool, projections), log })
  const notifications = new Notifications({ databaseUrl, onError, onAnswer })
  const raising = projections.filter(({ idsSeen }) => idsSeen).map(({ name }) => name)
  const positions = new Positions({
    notifications, pool, onError, head: streams.head, waitMs, raising, otherLog: logGuard.problem
  })
  const close = async () => {
    positions.close()
    await notifications.close()
    await disconnect()
  }
  return {
    pool,
    /** For consumers: statements and idle transactions have a time limit. */
    consumerPool,
    ...sealing,
    /** Seals personal data on append and opens it on read. */
    streams: streams as Streams,
    /** The same log, for health checks. */
    eventStore: streams,
    positions,
    /** Has not compared anything yet. */
    logGuard,
    notifications,
    close
  }
}

/** Logs each outage when it begins and when it ends, however many connections it takes. */
export function postgresOutages (log: OutageLog) {
  let beganAt: number | undefined
  return {
    onError ({ message }: Error) {
      if (beganAt !== undefined) return
      beganAt = performance.now()
      log.warn({ reason: message }, 'lost a connection to Postgres')
    },
    onAnswer () {
      if (beganAt === undefined) return
      const seconds = Math.round((performance.now() - beganAt) / 100) / 10
      beganAt = undefined
      log.info({ seconds }, 'Postgres answers again.')
    }
  }
}

/** From now on this log seals personal data on append and opens it on read. */
export function openSealing (streams: EventLog, pool: Pool, settings: KeySettings) {
  const phoneHash = digestOfNumbers(settings)
  /** Keys for what is encrypted at rest. */
  const keys = secretKeys(settings)
  const personKeys = new PersonKeys({ pool, streams, secretKeys: keys, digest: phoneHash })
  streams.codec = personCodec(personKeys, phoneHash)
  return { streams, personKeys, keys, phoneHash }
}
