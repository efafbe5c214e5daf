// The embedded event store: EventStoreDB's protocol on loopback, with events in Postgres.
import { setMaxListeners } from 'node:events'
import type { Socket } from 'node:net'
import * as grpc from '@grpc/grpc-js'
import { Feed } from './feed.js'
import { listen } from './listen.js'
import { EventLog } from './log/log.js'
import { postgresStorage, type Storage } from './log/session.js'
import { createGrpcServer } from './protocol/services.js'

export interface EventStoreOptions {
  /** `postgres://…`; the store uses one schema of this database. */
  databaseUrl: string
  /** 0 or absent for any free port. */
  port?: number
  /** Default: 127.0.0.1. There is no login, so only this machine should reach it. */
  host?: string
  /** Default: `eventstore`. One server serves a schema; a second one refuses to start. */
  schema?: string
  log?: (line: string) => void
  /** Replaces Postgres: a benchmark measures the server without SQL. */
  storage?: Storage
}

export type RunningEventStore = Awaited<ReturnType<typeof startEventStore>>

/** @throws when Postgres cannot be reached, the port is taken, or another server has the schema */
export async function startEventStore (options: EventStoreOptions) {
  const { databaseUrl, host = '127.0.0.1', schema = 'eventstore', log: say = () => {} } = options
  const feed = new Feed()
  const log = await EventLog.open(options.storage ?? postgresStorage({ databaseUrl, schema }), feed, say)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one listener per open call
  const address = (): { host: string, port: number } => ({ host, port: listener.port })
  const startScavenge = (): ReturnType<EventLog['scavenger']['start']> => log.scavenger.start(`${host}:${listener.port}`)
  const server = createGrpcServer({ log, feed, closing: closing.signal, startScavenge, address })
  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure())
  const takeHttp2 = (socket: Socket) => { injector.injectConnection(socket) }
  const at = { host, port: options.port ?? 0 }
  const http = { isReady: () => log.writer.isAttached, startScavenge }
  const listener = await listen(at, http, takeHttp2).catch(async (error: unknown) => {
    await log.close()
    throw error
  })

  let closed: Promise<void> | undefined
  const stop = async () => {
    listener.stop()
    closing.abort()
    await new Promise((resolve) => setTimeout(resolve, 50)) // lets the statuses of the ended calls go out first
    await log.close()
    listener.destroy()
    server.forceShutdown()
  }
  const { port } = listener
  return {
    url: `esdb://${host}:${port}?tls=false`,
    port,
    /** Resolves when it can no longer serve, for example because another server took the schema. */
    lost: log.lost,
    /** Ends open calls with CANCELLED and releases the schema. */
    close: () => closed ??= stop()
  }
}
