// Opens the connection pool of one role.
import pg from 'pg'
import { endClient } from './end-client.js'

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
/** What is done every half minute finds its connection again: to open one costs more than many statements. */
const idleTimeoutMillis = 60_000

/**
 * Resolves when Postgres answers, takes writes and lets the role make schemas; rejects within 5 s with why not.
 * @returns whether the log or the tables of a service are there
 */
export async function ping (databaseUrl: string): Promise<{ isInUse: boolean }> {
  const client = new pg.Client({
    connectionString: databaseUrl, application_name: 'ringledger', connectionTimeoutMillis: connectWithinMs
  })
  client.on('error', () => {}) // connect() and end() report it
  await client.connect()
  try {
    return await assertUsable(client)
  } finally {
    await client.end()
  }
}

/** Resolves when a server answers there, if only to refuse; rejects when none does in time. */
export async function knock (databaseUrl: string, withinMs: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: withinMs })
  client.on('error', () => {}) // connect() reports it
  try {
    await client.connect()
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
  } finally {
    void endClient(client)
  }
}

/** Ends all connections of a pool at once: what waits for an answer on them fails. */
export function cutOff (pool: pg.Pool): void {
  for (const client of clientsOf.get(pool) ?? []) client.connection?.stream.destroy()
}

const clientsOf = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** As Postgres itself says it where a statement is refused: here before any is. */
async function assertUsable (client: pg.Client): Promise<{ isInUse: boolean }> {
  const { rows: [found] } = await client.query<{ problem: string | null, code: string | null, isInUse: boolean }>(`
    SELECT CASE WHEN pg_is_in_recovery() THEN 'it is a standby'
      WHEN NOT has_database_privilege(current_database(), 'CREATE')
      THEN format('the role %I may not create schemas in the database %I', current_user, current_database()) END AS problem,
      CASE WHEN pg_is_in_recovery() THEN '25006' ELSE '42501' END AS code,
      EXISTS (SELECT FROM pg_namespace WHERE nspname IN ('ledger', 'eventstore')) AS "isInUse"`)
  if (found?.problem) throw Object.assign(new Error(found.problem), { code: found.code })
  return { isInUse: found?.isInUse ?? false }
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
    idleTimeoutMillis,
    keepAlive: true,
    ...(options.answerWithinMs && { query_timeout: options.answerWithinMs, statement_timeout: options.answerWithinMs }),
    // Postgres assumes disks that seek, and would rather read a whole table than much of an index.
    options: '-c random_page_cost=1.1',
    idle_in_transaction_session_timeout: options.stalledAfterMs ?? 0
  })
  pool.on('error', options.onError)
  // A connection can become ready and end in one packet, before its user can listen. Its queries report the error.
  const clients = new Set<pg.PoolClient>()
  clientsOf.set(pool, clients)
  pool.on('connect', (client) => { clients.add(client.on('error', () => {})) })
  pool.on('remove', (client) => { clients.delete(client) })
  return pool
}
