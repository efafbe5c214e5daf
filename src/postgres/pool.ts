// Opens the connection pool of one role.
import pg from 'pg'

export interface PoolOptions {
  /** Shown in pg_stat_activity, so that an operator sees which role holds a connection. */
  applicationName: string
  /** Most connections at once. */
  max?: number
  /** Ends a session that idles inside a transaction for so long, in milliseconds. */
  stalledAfterMs?: number
  /** Called when an idle connection is lost; the pool replaces it by itself. */
  onError: (error: Error) => void
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
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    // Postgres assumes disks that seek, and would rather read a whole table than much of an index.
    options: '-c random_page_cost=1.1',
    idle_in_transaction_session_timeout: options.stalledAfterMs ?? 0
  })
  pool.on('error', options.onError)
  return pool
}
