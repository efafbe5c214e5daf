// Hears what Postgres notifies, over one connection for all channels of a process: each notification wakes every
// session of the database that listens to anything.
import { Connection, type ConnectionOptions } from './connection.js'

export interface Notifications {
  /** Listens to a channel until the listener is closed. @param channel a name of ours, never input */
  listen (channel: string, hearing: Hearing): Listener
  close (): Promise<void>
}

export interface Hearing {
  onNotification (payload: string): void
  /** Earlier notifications were perhaps missed. */
  onListening (): void
}

export interface Listener {
  isListening (): boolean
  /** Of what was notified up to then, on the clock of `performance.now()`, nothing was missed since `onListening`. */
  heardUntil (): number
  /** Checks now that the connection lives, unless it is being checked. */
  check (): void
  close (): void
}

export type NotificationsOptions = Pick<ConnectionOptions, 'databaseUrl'> & Partial<ConnectionOptions> & {
  /** A lost connection, of which each is made anew. */
  onError (error: Error): void
}

const reconnectMs = 500
const usual = { applicationName: 'ringledger notifications', heartbeatMs: 15_000, answerWithinMs: 5_000 }

/** Connects once somebody listens. */
export function openNotifications (options: NotificationsOptions): Notifications {
  return new SharedConnection({ ...usual, ...options })
}

class SharedConnection implements Notifications {
  readonly #listeners = new Set<ChannelListener>()
  #isClosed = false
  #current: Connection | undefined
  #live: Connection | undefined

  constructor (private readonly options: ConnectionOptions & NotificationsOptions) {}

  listen (channel: string, hearing: Hearing): Listener {
    const listener = new ChannelListener(channel, hearing, () => this.#live, () => { this.#listeners.delete(listener) })
    this.#listeners.add(listener)
    if (this.#live) void listener.begin(this.#live)
    else if (!this.#current && !this.#isClosed) void this.#connect()
    return listener
  }

  async close (): Promise<void> {
    this.#isClosed = true
    await this.#current?.close() // a client that is ended while it connects never says that it has connected
  }

  async #connect (): Promise<void> {
    const connection: Connection = new Connection(this.options, {
      onNotification: (channel, payload) => { for (const each of this.#listeners) each.heard(channel, payload) },
      onLost: (error) => this.#lost(connection, error)
    })
    this.#current = connection
    if (!await connection.open() || this.#isClosed) return
    this.#live = connection
    await Promise.all([...this.#listeners].map((listener) => listener.begin(connection)))
  }

  #lost (connection: Connection, error: Error | undefined): void {
    if (this.#live === connection) this.#live = undefined
    if (this.#isClosed) return
    if (error) this.options.onError(error)
    setTimeout(() => { if (!this.#isClosed) void this.#connect() }, reconnectMs).unref()
  }
}

class ChannelListener implements Listener {
  /** The connection on which it has begun to listen. */
  #on: Connection | undefined
  #isClosed = false

  constructor (
    private readonly channel: string, private readonly hearing: Hearing,
    private readonly live: () => Connection | undefined, private readonly leave: () => void
  ) {}

  isListening (): boolean {
    return this.#on !== undefined && this.#on === this.live()
  }

  heardUntil (): number {
    return this.isListening() ? this.#on?.heardUntil ?? -Infinity : -Infinity
  }

  check (): void {
    if (this.isListening()) this.#on?.check()
  }

  async begin (connection: Connection): Promise<void> {
    if (!await connection.listen(this.channel) || this.#isClosed) return
    this.#on = connection
    this.hearing.onListening()
  }

  heard (channel: string, payload: string): void {
    if (channel === this.channel) this.hearing.onNotification(payload)
  }

  /** The session goes on to hear the channel: its process ends, or listens to it again. */
  close (): void {
    this.#isClosed = true
    this.leave()
  }
}
