// Opens connection pools, and checks that we can work with a Postgres.
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import pg, { type Client } from 'pg'
import { endsWithin } from '../timing.js'

export interface PoolOptions {
  /** Shown in pg_stat_activity, so that operators see who holds a connection. */
  applicationName: string
  /** Most connections at once. */
  max?: number
  /** Statement timeout in milliseconds, also when Postgres does not answer. None when absent. */
  answerWithinMs?: number | undefined
  /** Postgres ends a session that idles inside a transaction for this long, in milliseconds. */
  stalledAfterMs?: number
  /** Called when an idle connection is lost; the pool replaces it. */
  onError: (error: Error) => void
}

const connectWithinMs = 5_000
/** Work that runs every half minute keeps its connection: opening one costs more than many statements. */
const idleTimeoutMillis = 60_000

/**
 * By default Postgres assumes seeking disks and prefers to scan a table. JIT compilation takes longer than our
 * statements.
 */
const planning = '-c random_page_cost=1.1 -c jit=off'

/**
 * Rejects within 5 s when we cannot work with this Postgres. Embedded back ends lock and write nothing before.
 * @returns whether it already has the log or the tables of a service
 */
export async function ping (databaseUrl: string): Promise<{ isInUse: boolean }> {
  const [client, other] = [openClient(databaseUrl, 'ringledger'), openClient(databaseUrl, 'ringledger')]
  await client.connect()
  try {
    const { troubles: [trouble], pid, isInUse } = await lookAtServer(client)
    if (trouble) throw trouble
    if (Reflect.get(client, 'processID') !== pid) { // via a pooler
      await other.connect()
      await assertListens(client, other)
    }
    return { isInUse }
  } finally {
    await Promise.all([client, other].map(endClient))
  }
}

/** One connection with every kind of setting that pools use, so a pooler that refuses one fails here. */
export function openClient (databaseUrl: string, applicationName: string, withinMs = connectWithinMs): pg.Client {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: applicationName,
    connectionTimeoutMillis: withinMs,
    statement_timeout: withinMs,
    query_timeout: withinMs,
    idle_in_transaction_session_timeout: withinMs,
    options: planning
  })
  return client.on('error', () => {})
}

/** Resolves when a server answers, even with a refusal; rejects when none does in time. */
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

/** Destroys all connections of a pool, so that pending statements fail. */
export function cutOff (pool: pg.Pool): void {
  for (const client of clientsOf.get(pool) ?? []) client.connection?.stream.destroy()
}

const clientsOf = new WeakMap<pg.Pool, Set<pg.PoolClient>>()

/** A server, and why we cannot work with it, in the words that Postgres uses when it refuses a statement. */
export interface Server { version: string, pid: number, isInUse: boolean, troubles: Array<Error & { code: string }> }

/** A code of `Server.troubles`. */
export const tooOld = 'RL001'

export async function lookAtServer (client: pg.Client): Promise<Server> {
  const { rows: [row] } = await client.query<Omit<Server, 'troubles'> & Record<string, unknown>>(`
    SELECT current_setting('server_version') AS version, pg_backend_pid() AS pid,
      EXISTS (SELECT FROM pg_namespace WHERE nspname IN ('ledger', 'eventstore')) AS "isInUse",
      CASE WHEN current_setting('server_version_num')::integer < 140000
      THEN 'it is Postgres ' || current_setting('server_version') END AS "${tooOld}",
      CASE WHEN pg_is_in_recovery() THEN 'it is a standby'
      WHEN current_setting('default_transaction_read_only') = 'on' THEN 'default_transaction_read_only is on' END AS "25006",
      CASE WHEN NOT has_database_privilege(current_database(), 'CREATE')
      THEN format('the role %I may not create schemas in the database %I', current_user, current_database()) END AS "42501"`)
  if (!row) throw new Error('it says nothing of itself')
  const troubles = [tooOld, '25006', '42501'].flatMap((code) => row[code] ? Object.assign(new Error(String(row[code])), { code }) : [])
  return { ...row, troubles }
}

/**
 * A transaction pooler gives the connection to another client between two statements, and the notification with it. A
 * notification that does get through arrives with the answer to the next statement.
 */
export async function assertListens (client: pg.Client, other: pg.Client): Promise<void> {
  const channel = `ringledger_${randomUUID().replaceAll('-', '')}`
  let isHeard = false
  client.once('notification', () => { isHeard = true })
  await client.query(`LISTEN ${channel}`)
  await other.query(`NOTIFY ${channel}`)
  await client.query(`UNLISTEN ${channel}`)
  if (!isHeard) throw new Error('what is notified does not arrive')
}

/** Opens a pool; the caller ends it. Connecting fails after 5 s, so that a dead Postgres is an error and not a hang. */
export function openPool (databaseUrl: string, options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: options.applicationName,
    max: options.max ?? 10,
    connectionTimeoutMillis: connectWithinMs,
    idleTimeoutMillis,
    keepAlive: true,
    ...(options.answerWithinMs && { query_timeout: options.answerWithinMs, statement_timeout: options.answerWithinMs }),
    options: planning,
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

const goodbyeMs = 1_000

/** Ends the client gracefully; destroys the socket when the server does not answer or has not let us connect yet. */
export async function endClient (client: Client): Promise<void> {
  if (await endsWithin(goodbyeMs, client.end())) return
  const socket = client.connection?.stream
  if (socket instanceof Socket) socket.destroy()
}
