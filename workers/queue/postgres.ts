// Keeps the jobs of BullMQ in the schema `queue` of Postgres.
import { Socket } from 'node:net'
import {
  PostgresConnection, PostgresQueueBackend, runMigrations, type PostgresConnectionOptions
} from 'bullmq'
import type { Pool } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'
import type { BackEnd } from './back-end.js'

const schema = 'queue'

/** Most connections of a worker to the queue; one more listens. */
export const connectionsOfQueue = { producer: 2, worker: 8 }

/** Makes the tables of the queue first. */
export async function postgresBackEnd (
  pool: Pool, databaseUrl: string, answerWithinMs: number
): Promise<BackEnd<PostgresConnectionOptions>> {
  await onConnection(pool, (client) => runMigrations(client, schema))
  const ofQueue = new URL(databaseUrl) // a name in the URL would override a separate option
  ofQueue.searchParams.set('application_name', 'ringledger queue')
  const connection = (max: number) => ({
    connectionString: ofQueue.href,
    schema,
    max,
    connectionTimeoutMillis: answerWithinMs,
    query_timeout: answerWithinMs,
    keepAlive: true,
    options: '-c synchronous_commit=off' // a crash may take jobs: the reconciler queues them again
  })
  const backEnd: BackEnd<PostgresConnectionOptions> = {
    factory: (name, options, { withBlockingConnection = false } = {}) => {
      const connection = new QueueConnection(options.connection)
      connection.onListening = () => backEnd.onListening?.()
      return new PostgresQueueBackend(connection, name, options, true, withBlockingConnection ? name : undefined)
    },
    producer: connection(connectionsOfQueue.producer),
    worker: connection(connectionsOfQueue.worker),
    disconnect: () => {}
  }
  return backEnd
}

/** How long a listening connection counts as alive after an answer. */
const aliveMs = 1_000

class QueueConnection extends PostgresConnection {
  onListening = () => {}
  #listening: ListenClient | undefined
  #answeredAt = -Infinity

  /**
   * Does nothing, as the tables exist. BullMQ would cache the result for ever: after a failure its worker would retry
   * without a pause, so that nothing else in the process would ever run again.
   */
  override async waitUntilReady (): Promise<void> {}

  /** Asks the listening connection first: a dead one gets no notifications, and reports no error. */
  override async getListenClient (): ReturnType<PostgresConnection['getListenClient']> {
    const client = await super.getListenClient()
    if (client === this.#listening && performance.now() - this.#answeredAt < aliveMs) return client
    this.#listening = client
    await client.query('SELECT').catch(async (error: unknown) => {
      const socket = client.connection?.stream
      if (socket instanceof Socket) await end(client, socket, error)
      throw error
    })
    this.#answeredAt = performance.now()
    this.onListening()
    return client
  }
}

type ListenClient = Awaited<ReturnType<PostgresConnection['getListenClient']>>

/** BullMQ removes its listeners when it closes; a later error would end the process without one of ours. */
async function end (client: ListenClient, socket: Socket, cause: unknown): Promise<void> {
  client.on('error', () => {})
  const closed = new Promise((resolve) => { socket.once('close', resolve) })
  socket.destroy(new Error('the connection that listens is dead', { cause }))
  await closed
}
