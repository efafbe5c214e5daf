// Keeps the jobs of BullMQ in the schema `queue` of Postgres.
import { Socket } from 'node:net'
import {
  PostgresConnection, PostgresQueueBackend, runMigrations, type PostgresConnectionOptions
} from 'bullmq'
import type { Pool } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'
import type { BackEnd } from './back-end.js'

const schema = 'queue'

/** At most, of a worker, for attempts; one more listens. */
export const connectionsOfQueue = { producer: 2, worker: 8 }

/** Makes the tables of the queue first. */
export async function postgresBackEnd (
  pool: Pool, databaseUrl: string, answerWithinMs: number
): Promise<BackEnd<PostgresConnectionOptions>> {
  await onConnection(pool, async (client, isBroken) => {
    // The migrations set the search path of their session, so the pool must not use it again.
    isBroken(new Error('the search path of this session was changed'))
    await runMigrations(client, schema)
  })
  const ofQueue = new URL(databaseUrl) // a name in it would count for more than one beside it
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

/** A connection that listens and has answered is believed to live for so long, in milliseconds. */
const aliveMs = 1_000

class QueueConnection extends PostgresConnection {
  onListening = () => {}
  #listening: ListenClient | undefined
  #answeredAt = -Infinity

  /**
   * Asks nothing: the tables are there. BullMQ would keep the answer for ever, and after a failure its worker would
   * ask for it again without a pause, so that nothing else of the process would ever run again.
   */
  override async waitUntilReady (): Promise<void> {}

  /** The connection that listens, once it has answered: nothing is heard on a dead one, and nobody is told of that. */
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

/** BullMQ takes its listeners away when it closes: an error that comes after that would end the process. */
async function end (client: ListenClient, socket: Socket, cause: unknown): Promise<void> {
  client.on('error', () => {})
  const closed = new Promise((resolve) => { socket.once('close', resolve) })
  socket.destroy(new Error('the connection that listens is dead', { cause }))
  await closed
}
