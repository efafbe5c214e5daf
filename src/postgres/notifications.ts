// LISTEN for all channels of a process over one connection: each NOTIFY wakes every session of the database that
// listens to anything.
import pg from 'pg'
import { endClient } from './pool.js'

interface Hearing {
  onNotification (payload: string): void
  /** Called whenever listening begins: notifications before that may be lost. */
  onListening? (): void
}

export interface Listener {
  isListening (): boolean
  close (): void
}

export interface NotificationsOptions {
  /** Must reach Postgres directly: LISTEN does not pass a transaction pooler. */
  databaseUrl: string
  /** Interval of connection checks, in milliseconds. */
  heartbeatMs?: number
  /** Timeout of each check, in milliseconds. */
  answerWithinMs?: number
  /** Gets each lost connection and each failed reconnect; it retries after either. */
  onError (error: Error): void
  /** Called whenever Postgres answers. */
  onAnswer? (): void
}

const reconnectMs = 500
const usual = { heartbeatMs: 15_000, answerWithinMs: 5_000 }

interface Ear {
  channel: string
  hearing: Hearing
  /** The connection that listens to the channel. */
  on?: Connection
}

/** Connects on the first `listen`. */
export class Notifications {
  readonly #ears = new Set<Ear>()
  #isClosed = false
  #current: Connection | undefined
  #live: Connection | undefined

  constructor (private readonly options: NotificationsOptions) {}

  /** Listens to a channel until the listener is closed. @param channel never input, as it goes into SQL */
  listen (channel: string, hearing: Hearing): Listener {
    const ear: Ear = { channel, hearing }
    this.#ears.add(ear)
    if (this.#live) void this.#begin(ear, this.#live)
    else if (!this.#current && !this.#isClosed) void this.#connect()
    return {
      isListening: () => ear.on !== undefined && ear.on === this.#live,
      close: () => { this.#ears.delete(ear) } // no UNLISTEN: others may listen to the channel
    }
  }

  async close (): Promise<void> {
    this.#isClosed = true
    await this.#current?.close() // a client ended while it connects never resolves connect()
  }

  async #connect (): Promise<void> {
    const connection: Connection = new Connection(this.options, (channel, payload) => {
      for (const ear of this.#ears) if (ear.channel === channel) ear.hearing.onNotification(payload)
    }, (error) => this.#lost(connection, error))
    this.#current = connection
    if (!await connection.open() || this.#isClosed) return
    this.#live = connection
    await Promise.all([...this.#ears].map((ear) => this.#begin(ear, connection)))
  }

  async #begin (ear: Ear, connection: Connection): Promise<void> {
    if (!await connection.listen(ear.channel) || !this.#ears.has(ear)) return
    ear.on = connection
    ear.hearing.onListening?.()
  }

  #lost (connection: Connection, error: Error | undefined): void {
    if (this.#live === connection) this.#live = undefined
    if (this.#isClosed) return
    if (error) this.options.onError(error)
    setTimeout(() => { if (!this.#isClosed) void this.#connect() }, reconnectMs).unref()
  }
}

const connectWithinMs = 5_000

class Connection {
  readonly #client: pg.Client
  readonly #heartbeatMs: number
  #heartbeat: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isLost = false

  /** @param onLost gets no error after a normal end */
  constructor (
    private readonly options: NotificationsOptions, onNotification: (channel: string, payload: string) => void,
    private readonly onLost: (error?: Error) => void
  ) {
    const { databaseUrl, heartbeatMs, answerWithinMs } = { ...usual, ...options }
    this.#heartbeatMs = heartbeatMs
    this.#client = new pg.Client({
      connectionString: databaseUrl,
      application_name: 'ringledger notifications',
      keepAlive: true,
      connectionTimeoutMillis: connectWithinMs,
      query_timeout: answerWithinMs
    })
    this.#client.on('error', (error) => this.#lose(error))
    this.#client.on('end', () => this.#lose())
    this.#client.on('notification', ({ channel, payload = '' }) => {
      if (!this.#isLost) onNotification(channel, payload)
    })
  }

  /** @returns whether it is open; `onLost` was called otherwise */
  async open (): Promise<boolean> {
    const isOpen = await this.#asked(() => this.#client.connect())
    const check = () => void this.#asked(() => this.#client.query('SELECT'))
    if (isOpen) this.#heartbeat = setInterval(check, this.#heartbeatMs).unref()
    return isOpen
  }

  /** @returns whether it listens; `onLost` was called otherwise */
  async listen (channel: string): Promise<boolean> {
    return await this.#asked(() => this.#client.query(`LISTEN ${channel}`))
  }

  async close (): Promise<void> {
    await endClient(this.#client)
  }

  /** Asks for one thing after another: the client must have only one query at a time. */
  async #asked (ask: () => Promise<unknown>): Promise<boolean> {
    const asked = this.#last.then(async () => {
      await ask()
      this.options.onAnswer?.()
    }).catch((error: unknown) => this.#lose(error instanceof Error ? error : new Error(String(error))))
    this.#last = asked
    await asked
    return !this.#isLost
  }

  #lose (error?: Error): void {
    if (this.#isLost) return
    this.#isLost = true
    clearInterval(this.#heartbeat)
    void endClient(this.#client)
    this.onLost(error)
  }
}
