// What is asked of the embedded back ends of a DATA_DIR, and what they are.
import type { Role } from '@ringledger/embedded-postgres/lock'

/** The service that will listen beside the back ends. */
export interface Listening {
  port: number
  /** @throws when another process listens there */
  assertCanListen (): Promise<void>
}

export interface EmbeddedRequest {
  /** Absolute or relative to the working directory; created, mode 0700, when missing. */
  dataDir: string
  /** `start` publishes run.json for other commands. */
  role: Role
  /** For the error of another process that is refused, such as `ringledger start`. */
  command: string
  /** Given: no embedded Postgres. */
  databaseUrl?: string
  /** Given: no embedded event store. */
  eventStoreUrl?: string
  /** Of a `start`; 0 for any free one, absent for one that is kept. A command takes any. */
  eventStorePort?: number | undefined
  /** Its port is looked at before anything starts, and no back end takes it. */
  listening?: Listening | undefined
  /** Called before an embedded event store may write to the database. @throws when none may */
  check?: (databaseUrl: string) => Promise<void>
  /** Receives progress, a line at a time, for people. */
  log: (line: string) => void
}

export interface EmbeddedStack {
  databaseUrl: string
  eventStoreUrl: string
  /** The directory of the embedded Postgres, where there is one. */
  dataIn?: string | undefined
  /** Whether this is the stack of a running `start`, which close() leaves alone. */
  joined: boolean
  pids: Record<string, number>
  /** Settles when an embedded process ended without being closed. */
  lost: Promise<Error>
  /** Role `start`: writes run.json (mode 0600, atomically) with URLs, pids and these further values. */
  publish(extra: Record<string, unknown>): Promise<void>
  /**
   * Stops the event store, then Postgres, then releases DATA_DIR. Idempotent. At once: both are killed, as there is a
   * Postgres that does not answer; it recovers at the next start.
   */
  close(options?: { atOnce?: boolean }): Promise<void>
}
