// Listens to a channel over a connection of its own, and connects again when that is lost.
import pg from 'pg'

export interface ListenerOptions {
  /** Must reach Postgres directly: LISTEN does not pass a transaction pooler. */
  databaseUrl: string
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** A name of ours, never input. */
  channel: string
  onNotification (payload: string): void
  /** Earlier notifications were perhaps missed. */
  onListening (): void
  onError (error: Error): void
  /** Between two checks that the connection lives, and for an answer to each, in milliseconds. */
  heartbeatMs: number
}

export interface Listener {
  isListening (): boolean
  close (): Promise<void>
}

const reconnectMs = 500
const connectWithinMs = 5_000

/** Listens until it is closed. */
export function listenOn (
  { databaseUrl, applicationName, channel, onNotification, onListening, onError, heartbeatMs }: ListenerOptions
): Listener {
  let closed = false
  let live: pg.Client | undefined
  let connecting = listen()

  return {
    isListening: () => live !== undefined,
    async close () {
      closed = true
      await connecting
      await live?.end().catch(() => {})
    }
  }

  async function listen (): Promise<void> {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: applicationName,
      keepAlive: true,
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: heartbeatMs
    })
    const heartbeat = setInterval(() => {
      if (live === client) client.query('SELECT').catch((error: unknown) => lost(toError(error)))
    }, heartbeatMs).unref()
    let isLost = false
    const lost = (error?: Error) => {
      if (isLost) return
      isLost = true
      live = undefined
      clearInterval(heartbeat)
      client.end().catch(() => {})
      if (closed) return
      if (error) onError(error)
      setTimeout(() => { if (!closed) connecting = listen() }, reconnectMs).unref()
    }
    client.on('error', lost)
    client.on('end', () => lost())
    client.on('notification', ({ payload = '' }) => { if (!isLost) onNotification(payload) })
    try {
      await client.connect()
      await client.query(`LISTEN ${channel}`)
    } catch (error) {
      return lost(toError(error))
    }
    if (isLost) return
    live = client
    onListening()
  }
}

const toError = (error: unknown) => error instanceof Error ? error : new Error(String(error))
