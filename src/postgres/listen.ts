// Listens to a channel over a connection of its own, and connects again when that is lost.
import pg from 'pg'
import { endClient } from './end-client.js'

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
  /** Between two checks that the connection lives, in milliseconds. */
  heartbeatMs: number
  /** For an answer to each; as long as there is between two of them when absent. */
  answerWithinMs?: number
}

export interface Listener {
  isListening (): boolean
  /** Of what was notified up to then, on the clock of `performance.now()`, nothing was missed since `onListening`. */
  heardUntil (): number
  /** Checks now that the connection lives, unless it is being checked. */
  check (): void
  close (): Promise<void>
}

const reconnectMs = 500
const connectWithinMs = 5_000

/** Listens until it is closed. */
export function listenOn (options: ListenerOptions): Listener {
  return new ChannelListener(options)
}

class ChannelListener implements Listener {
  #isClosed = false
  #current: Connection | undefined
  #live: Connection | undefined

  constructor (private readonly options: ListenerOptions) {
    void this.#connect()
  }

  isListening (): boolean {
    return this.#live !== undefined
  }

  heardUntil (): number {
    return this.#live?.heardUntil ?? -Infinity
  }

  check (): void {
    this.#live?.check()
  }

  async close (): Promise<void> {
    this.#isClosed = true
    await this.#current?.close() // a client that is ended while it connects never says that it has connected
  }

  async #connect (): Promise<void> {
    const connection = new Connection(this.options, (error) => this.#lost(connection, error))
    this.#current = connection
    if (!await connection.open() || this.#isClosed) return
    this.#live = connection
    this.options.onListening()
  }

  #lost (connection: Connection, error: Error | undefined): void {
    if (this.#live === connection) this.#live = undefined
    if (this.#isClosed) return
    if (error) this.options.onError(error)
    setTimeout(() => { if (!this.#isClosed) void this.#connect() }, reconnectMs).unref()
  }
}

/** One connection that listens, until it is lost. */
class Connection {
  readonly #client: pg.Client
  readonly #heartbeat: NodeJS.Timeout
  /** Notifications come before the answer to what was asked after them. */
  heardUntil = -Infinity
  #isOpen = false
  #isAsking = false
  #isLost = false

  constructor (private readonly options: ListenerOptions, private readonly onLost: (error?: Error) => void) {
    const { databaseUrl, applicationName, heartbeatMs, answerWithinMs = heartbeatMs, onNotification } = options
    this.#client = new pg.Client({
      connectionString: databaseUrl,
      application_name: applicationName,
      keepAlive: true,
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: answerWithinMs
    })
    this.#heartbeat = setInterval(() => this.check(), heartbeatMs).unref()
    this.#client.on('error', (error) => this.#lose(error))
    this.#client.on('end', () => this.#lose())
    this.#client.on('notification', ({ payload = '' }) => { if (!this.#isLost) onNotification(payload) })
  }

  /** @returns whether it listens; `onLost` was called otherwise */
  async open (): Promise<boolean> {
    try {
      await this.#client.connect()
      await this.#client.query(`LISTEN ${this.options.channel}`)
      this.heardUntil = performance.now()
      this.#isOpen = !this.#isLost
    } catch (error) {
      this.#lose(toError(error))
    }
    return this.#isOpen
  }

  async close (): Promise<void> {
    await endClient(this.#client)
  }

  check (): void {
    if (!this.#isOpen || this.#isAsking) return
    const askedAt = performance.now()
    this.#isAsking = true
    this.#client.query('SELECT').then(() => {
      this.#isAsking = false
      this.heardUntil = askedAt
    }, (error: unknown) => this.#lose(toError(error)))
  }

  #lose (error?: Error): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#isOpen = false
    clearInterval(this.#heartbeat)
    void endClient(this.#client)
    this.onLost(error)
  }
}

const toError = (error: unknown) => error instanceof Error ? error : new Error(String(error))
