// The connections that every role and command works on.
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { Positions } from '../../projections/engine/positions.js'
import { activePositions, awaitedChannel, ensureProjections, filledAt } from '../../projections/engine/generations.js'
import { Notifications } from '../postgres/notifications.js'
import { projections } from '../../projections/index.js'
import { eventVersions } from '../domain/events.js'
import { EventStoreConnection } from '../log/connection.js'
import { EventLog, type OutageLog, type Streams } from '../log/event-log.js'
import { packageRoot } from '../package-root.js'
import { openLogGuard } from '../recovery/log-guard.js'
import { endsWithin } from '../timing.js'
import { migrate } from '../postgres/migrate.js'
import { openPool } from '../postgres/pool.js'
import { keyTypes, personCodec } from '../privacy/events.js'
import { PersonKeys } from '../privacy/person-keys.js'
import { digestOfNumbers, secretKeys, type KeySettings } from './complete-config.js'
import { reachableHead, reachablePostgres } from './back-end-unreachable.js'

/** Where the back ends are, after the embedded ones have started. */
export interface Urls {
  databaseUrl: string
  eventStoreUrl: string
  redisUrl?: string | undefined
  /** The directory in which the embedded Postgres keeps its data. */
  dataIn?: string | undefined
}

/** A statement of a batch that takes longer fails, and its consumer begins the batch again. Commands wait longer. */
const usualBatchMs = 30_000

/** A session that idles longer inside a transaction is ended, so that a frozen process keeps no rows locked. */
const stalledAfterMs = 3_000

/** Of each of the two pools. The table in docs/operations.md is made of it. */
export const mostConnections = 20

/** A pool ends when its last query does, which may be on a dead connection. */
const endWithinMs = 2_000

/** What consumers may take. */
const consumedTypes = Object.keys(eventVersions).filter((type) => !keyTypes.includes(type))

export type Connections = Awaited<ReturnType<typeof openConnections>>

interface ConnectionOptions {
  /** How long a statement of `pool` may take, in milliseconds; without limit when absent. */
  answerWithinMs?: number
  /** How long a statement of `consumerPool` may take, in milliseconds. */
  batchWithinMs?: number
  /** How long an answer waits for readers to see a position, in milliseconds. */
  readModelWaitMs?: number
}

/** Connects to the back ends and brings the database up to date. @throws BackEndUnreachable, OtherVersion */
export async function openConnections (
  urls: Urls, settings: KeySettings, log: Logger, options: ConnectionOptions = {}
) {
  const { databaseUrl, eventStoreUrl } = urls
  await reachablePostgres(databaseUrl, () => migrate(databaseUrl, packageRoot))
  const { onError, onAnswer } = postgresOutages(log)
  const { pool, consumerPool } = openPools(databaseUrl, onError, options)
  const connection = new EventStoreConnection(eventStoreUrl)
  const streams = new EventLog(connection, { outages: log, shared: { eventTypes: consumedTypes } })
  const sealing = openSealing(streams, pool, settings)
  const disconnect = async () => {
    streams.close()
    const ended = [pool, consumerPool].map((each) => endsWithin(endWithinMs, each.end()))
    await Promise.all([connection.close(), ...ended])
  }
  try {
    await reachableHead({ url: eventStoreUrl }, () => new EventLog(connection).head())
    await ensureProjections(pool, projections, () => filledAt(streams, projections))
  } catch (error) {
    await disconnect()
    throw error
  }
  const notifications = new Notifications({ databaseUrl, onError, onAnswer })
  const positions = new Positions({
    ...{ notifications, pool, onError, head: streams.head, waitMs: options.readModelWaitMs },
    raising: projections.filter(({ idsSeen }) => idsSeen).map(({ name }) => name)
  })
  notifications.listen(awaitedChannel, { onNotification: () => streams.lookNow() })
  const close = async () => {
    positions.close()
    await notifications.close()
    await disconnect()
  }
  const logGuard = openLogGuard({ pool, streams, readUpTo: () => activePositions(pool, projections), log })
  return {
    pool,
    /** For consumers: its statements and transactions have a time limit. */
    consumerPool,
    ...sealing,
    /** What events say of persons is sealed by what is appended here, and open in what is read. */
    streams: streams as Streams,
    /** Whether the event store answers, and takes writes. */
    eventStore: streams,
    positions,
    /** It has compared nothing yet. */
    logGuard,
    notifications,
    close
  }
}

/** Logs each outage twice, when it begins and when it ends, however many connections it takes. */
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

/** From now on what events say of persons is sealed in this log, and open in what is read of it. */
export function openSealing (streams: EventLog, pool: Pool, settings: KeySettings) {
  const phoneHash = digestOfNumbers(settings)
  /** What is encrypted at rest is encrypted with these. */
  const keys = secretKeys(settings)
  const personKeys = new PersonKeys({ pool, streams, secretKeys: keys, digest: phoneHash })
  streams.codec = personCodec(personKeys, phoneHash)
  return { streams, personKeys, keys, phoneHash }
}

function openPools (
  databaseUrl: string, onError: (error: Error) => void,
  { answerWithinMs, batchWithinMs = usualBatchMs }: ConnectionOptions
) {
  const common = { max: mostConnections, onError }
  return {
    pool: openPool(databaseUrl, { ...common, applicationName: 'ringledger', answerWithinMs }),
    consumerPool: openPool(databaseUrl, {
      ...common, applicationName: 'ringledger consumer', answerWithinMs: batchWithinMs, stalledAfterMs
    })
  }
}
