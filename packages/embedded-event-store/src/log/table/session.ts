// The one session that may write. It holds the lock of the schema, so a server that loses the lock cannot write.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { createSchema } from './schema.js'

export interface Session {
  client: pg.Client
  /** Settles when the connection is gone. */
  ended: Promise<Error>
}

export class SchemaInUse extends Error {
  constructor (schema: string) {
    super(`Another event store is serving the schema "${schema}" of this database`)
  }
}

// Two numbers name an advisory lock: ours, and a hash of the schema.
const lockClass = 0x52_4c_45_53

export interface Patience {
  /** How long to try, in ms, while another session holds the lock: that of a killed server may still be there. */
  patience: number
  /** How long a statement may take, in ms. */
  statementMs: number
}

/**
 * The writer looks rows up by keys. To plan a statement takes as long as to run it: each is planned once, and never to
 * read a whole table, which may be small while that happens.
 */
const planning = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off'

/** How often a session is asked whether it still answers, in ms. */
const heartbeatMs = 2_000

/** After some ten seconds Postgres gives up a session whose other end is silent, and with it the lock. */
const durable = `
  set synchronous_commit = on; -- also where the default is off
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`

/**
 * Connects, acquires the lock of the schema and makes its tables. The session ends by itself when Postgres is silent.
 * @throws SchemaInUse when another session keeps the lock
 */
export async function openSession (
  databaseUrl: string, schema: string, { patience, statementMs }: Patience
): Promise<Session> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    keepAlive: true,
    application_name: 'ringledger-event-store-writer',
    connectionTimeoutMillis: 5_000,
    query_timeout: statementMs
  })
  const ended = new Promise<Error>((resolve) => {
    client.once('error', resolve)
    client.once('end', () => { resolve(new Error('The connection to Postgres ended')) })
  })
  client.on('error', () => {}) // a second error must not end the process
  try {
    await client.connect()
    await acquireLock(client, schema, patience)
    await client.query(durable)
    await createSchema(client, schema)
    await client.query(planning)
    void keepAsking(client, ended) // ends with the session
    return { client, ended }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

/** Ends a session that does not answer any more, also when nobody writes. */
async function keepAsking (client: pg.Client, ended: Promise<Error>): Promise<void> {
  let isOver = false
  void ended.then(() => { isOver = true })
  while (!isOver) {
    await delay(heartbeatMs, undefined, { ref: false })
    const answers = await client.query('select').then(() => true, () => false)
    if (!answers) return await client.end().catch(() => {})
  }
}

async function acquireLock (client: pg.Client, schema: string, patience: number): Promise<void> {
  const deadline = Date.now() + patience
  for (;;) {
    const text = 'select pg_try_advisory_lock($1, hashtext($2)) as is_acquired'
    const { rows: [row] } = await client.query<{ is_acquired: boolean }>(text, [lockClass, schema])
    if (row?.is_acquired === true) return
    if (Date.now() >= deadline) throw new SchemaInUse(schema)
    await delay(100)
  }
}
