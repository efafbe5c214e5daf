// Where BullMQ keeps its jobs: in the schema `queue` of Postgres, or in Redis.
import { once } from 'node:events'
import {
  createPostgresBackend, createRedisBackend, runMigrations,
  type BackendFactory, type ConnectionOptions, type IQueueBackend, type PostgresConnectionOptions
} from 'bullmq'
import { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'
import { logRarely } from './log-rarely.js'
import { endsWithin } from './ends-within.js'

export interface BackEnd<Connection> {
  factory: BackendFactory<IQueueBackend, Connection>
  producer: Connection
  worker: Connection
  disconnect (): void
}

const schema = 'queue'
const firstConnectionMs = 2_000

/** Makes the tables of the queue first. */
export async function postgresBackEnd (pool: Pool, databaseUrl: string): Promise<BackEnd<PostgresConnectionOptions>> {
  await onConnection(pool, async (client, isBroken) => {
    // The migrations set the search path of their session, so the pool must not use it again.
    isBroken(new Error('the search path of this session was changed'))
    await runMigrations(client, schema)
  })
  const connection = (max: number) => ({
    connectionString: databaseUrl,
    schema,
    max,
    application_name: 'ringledger queue',
    connectionTimeoutMillis: 5_000,
    options: '-c synchronous_commit=off' // a crash may take jobs: the reconciler queues them again
  })
  return { factory: createPostgresBackend, producer: connection(2), worker: connection(8), disconnect: () => {} }
}

/** Redis may be down: then the queue works as soon as Redis is up. */
export async function redisBackEnd (
  url: string, log: { warn (details: object, message: string): void }
): Promise<BackEnd<ConnectionOptions>> {
  const retryStrategy = (times: number) => Math.min(times * 100, 2_000)
  const always = { connectTimeout: 5_000, retryStrategy }
  // A producer fails at once when Redis is down; a worker waits for Redis without an end.
  const producer = new Redis(url, { ...always, enableOfflineQueue: false, maxRetriesPerRequest: 1 })
  const worker = new Redis(url, { ...always, maxRetriesPerRequest: null })
  const copies = rememberCopies(worker)
  for (const connection of [producer, worker]) connection.on('error', logRarely(log, 'Redis cannot be reached'))
  await endsWithin(firstConnectionMs, once(producer, 'ready'))
  return {
    factory: createRedisBackend,
    producer,
    worker,
    disconnect: () => { for (const connection of [producer, worker, ...copies]) connection.disconnect() }
  }
}

/** BullMQ blocks on a copy of the worker's connection, and cannot drop that copy while Redis is down. */
function rememberCopies (connection: Redis): Redis[] {
  const copies: Redis[] = []
  const duplicate = connection.duplicate.bind(connection)
  connection.duplicate = (override) => {
    const copy = duplicate(override)
    copies.push(copy)
    return copy
  }
  return copies
}
