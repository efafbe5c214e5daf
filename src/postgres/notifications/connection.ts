// One connection that listens, until it is lost.
import pg from 'pg'
import { endClient } from '../end-client.js'

export interface ConnectionOptions {
  /** Must reach Postgres directly: LISTEN does not pass a transaction pooler. */
  databaseUrl: string
  /** Shown in pg_stat_activity. */
  applicationName: string
  /** Between two checks that the connection lives, in milliseconds. */
  heartbeatMs: number
  /** For an answer to each. */
  answerWithinMs: number
}

interface Told {
  onNotification (channel: string, payload: string): void
  /** Without an error when it has ended as it should. */
  onLost (error?: Error): void
}

const connectWithinMs = 5_000

export class Connection {
  readonly #client: pg.Client
  readonly #heartbeat: NodeJS.Timeout
  /** Notifications come before the answer to what was asked after them. */
  heardUntil = -Infinity
  #isOpen = false
  #isAsking = false
  #last: Promise<unknown> = Promise.resolve()
  #isLost = false

  constructor (
    { databaseUrl, applicationName, heartbeatMs, answerWithinMs }: ConnectionOptions, private readonly told: Told
  ) {
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
    this.#client.on('notification', ({ channel, payload = '' }) => {
      if (!this.#isLost) told.onNotification(channel, payload)
    })
  }

  /** @returns whether it is open; `onLost` was called otherwise */
  async open (): Promise<boolean> {
    this.#isOpen = await this.#answered(() => this.#client.connect())
    return this.#isOpen
  }

  /** @returns whether it listens; `onLost` was called otherwise */
  async listen (channel: string): Promise<boolean> {
    return await this.#answered(() => this.#client.query(`LISTEN ${channel}`))
  }

  async close (): Promise<void> {
    await endClient(this.#client)
  }

  check (): void {
    if (!this.#isOpen || this.#isAsking) return
    this.#isAsking = true
    void this.#answered(() => this.#client.query('SELECT')).then(() => { this.#isAsking = false })
  }

  /** One after the other: the client is to be asked nothing while it is asked. */
  async #answered (ask: () => Promise<unknown>): Promise<boolean> {
    const answer = this.#last.then(() => this.#answer(ask))
    this.#last = answer
    return await answer
  }

  async #answer (ask: () => Promise<unknown>): Promise<boolean> {
    const askedAt = performance.now()
    try {
      await ask()
      this.heardUntil = Math.max(this.heardUntil, askedAt)
    } catch (error) {
      this.#lose(error instanceof Error ? error : new Error(String(error)))
    }
    return !this.#isLost
  }

  #lose (error?: Error): void {
    if (this.#isLost) return
    this.#isLost = true
    this.#isOpen = false
    clearInterval(this.#heartbeat)
    void endClient(this.#client)
    this.told.onLost(error)
  }
}
