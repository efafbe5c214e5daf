// The one session that may write: it holds the schema's lock, so who has lost the lock has lost the pen.
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
 * Connects, takes the schema's lock and makes its tables. While another holds the lock it asks
 * again until `patience` ms are over (the backend of a killed predecessor may linger), then
 * throws `SchemaInUse`.
 */
export async function openSession (databaseUrl: string, schema: string, patience: number): Promise<Session> {
  const client = new pg.Client({ connectionString: databaseUrl, keepAlive: true, application_name: 'ringledger-event-store-writer', connectionTimeoutMillis: 5_000 })
  const ended = new Promise<Error>((resolve) => {
    client.once('error', resolve)
    client.once('end', () => { resolve(new Error('The connection to Postgres ended')) })
  })
  client.on('error', () => {}) // a second error must not end the process
  try {
    await client.connect()
    await takeLock(client, schema, patience)
    await client.query('set synchronous_commit = on') // durable before it is acknowledged, whatever the database's default
    await createSchema(client, schema)
    return { client, ended }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

async function takeLock (client: pg.Client, schema: string, patience: number): Promise<void> {
  const deadline = Date.now() + patience
  for (;;) {
    const { rows: [row] } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1, hashtext($2)) as taken', [lockClass, schema])
    if (row?.taken === true) return
    if (Date.now() >= deadline) throw new SchemaInUse(schema)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
