// The connections that every role and command works on.
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import { ensureProjections } from '../../projections/replay/generations.js'
import { listenForPositions, type Positions } from '../../projections/engine/positions.js'
import { reachable } from './back-end-unreachable.js'
import { openStreams, type Streams } from '../event-store/streams.js'
import { packageRoot } from '../package-root.js'
import { migrate } from '../postgres/migrate.js'
import { openPool } from '../postgres/pool.js'
import { projections } from '../../projections/index.js'

/** Where the back ends are, after the embedded ones have started. */
export interface Urls {
  databaseUrl: string
  eventStoreUrl: string
  redisUrl?: string | undefined
}

/** The client waits for streams of a dead server to end, which may be never. */
const disposeWithinMs = 1_000

/** A consumer whose batch takes longer begins it anew. */
const batchWithinMs = 30_000

export interface Connections {
  pool: Pool
  /** For consumers: a session that stalls inside a transaction is ended, so that a frozen owner holds no rows. */
  consumerPool: Pool
  client: EventStoreDBClient
  streams: Streams
  positions: Positions
  close (): Promise<void>
}

export interface ConnectionOptions {
  /** How long a statement of `pool` may take, in milliseconds; as long as it likes when absent. */
  answerWithinMs?: number
}

/** Connects to the back ends and brings the database up to date. @throws BackEndUnreachable, saying which one and how to mend it */
export async function openConnections ({ databaseUrl, eventStoreUrl }: Urls, log: Logger, { answerWithinMs }: ConnectionOptions = {}): Promise<Connections> {
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
