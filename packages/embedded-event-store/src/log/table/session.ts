// The one session that may write. It holds the lock of the schema, so a server that loses the lock cannot write.
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

/**
 * Connects, acquires the lock of the schema and makes its tables. While another session holds the lock, it tries again
 * for `patience` ms: the session of a server that was killed may still be there.
 * @throws SchemaInUse after that
 */
export async function openSession (databaseUrl: string, schema: string, patience: number): Promise<Session> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    keepAlive: true,
    application_name: 'ringledger-event-store-writer',
    connectionTimeoutMillis: 5_000
  })
  const ended = new Promise<Error>((resolve) => {
    client.once('error', resolve)
    client.once('end', () => { resolve(new Error('The connection to Postgres ended')) })
  })
  client.on('error', () => {}) // a second error must not end the process
  try {
    await client.connect()
    await acquireLock(client, schema, patience)
    // Durable before it is acknowledged, also where the default is off.
    await client.query('set synchronous_commit = on')
    await createSchema(client, schema)
    return { client, ended }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

async function acquireLock (client: pg.Client, schema: string, patience: number): Promise<void> {
  const deadline = Date.now() + patience
  for (;;) {
    const text = 'select pg_try_advisory_lock($1, hashtext($2)) as is_acquired'
    const { rows: [row] } = await client.query<{ is_acquired: boolean }>(text, [lockClass, schema])
    if (row?.is_acquired === true) return
    if (Date.now() >= deadline) throw new SchemaInUse(schema)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
