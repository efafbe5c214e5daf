// Opens the connection pool of one role.
import pg from 'pg'

export interface PoolOptions {
  /** Shown in pg_stat_activity, so that an operator sees which role holds a connection. */
  applicationName: string
  /** Most connections at once. */
  max?: number
  /** A statement that takes longer fails, in milliseconds; also when Postgres does not answer. No limit when absent. */
  answerWithinMs?: number | undefined
  /** Ends a session that idles inside a transaction for so long, in milliseconds. */
  stalledAfterMs?: number
  /** Called when an idle connection is lost; the pool replaces it by itself. */
  onError: (error: Error) => void
}

const connectWithinMs = 5_000

/** Resolves when Postgres answers; rejects with why it does not, after 5 s at most. */
export async function ping (databaseUrl: string): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl, application_name: 'ringledger', connectionTimeoutMillis: connectWithinMs
  })
  client.on('error', () => {}) // connect() and end() report it
  await client.connect()
  await client.end()
}

/**
 * A pool on `databaseUrl`. Connecting fails after 5 s, so that a dead Postgres is an answer and not a hang.
 * The caller ends it.
 */
export function openPool (databaseUrl: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    ...(options.answerWithinMs && { query_timeout: options.answerWithinMs, statement_timeout: options.answerWithinMs }),
    // Postgres assumes disks that seek, and would rather read a whole table than much of an index.
    options: '-c random_page_cost=1.1',
    idle_in_transaction_session_timeout: options.stalledAfterMs ?? 0
  })
  pool.on('error', options.onError)
  // A connection can become ready and end in one packet, before its user can listen. Its queries report the error.
  pool.on('connect', (client) => { client.on('error', () => {}) })
  return pool
}
