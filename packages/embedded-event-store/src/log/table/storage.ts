// Where the log keeps its events: a table, the one session that writes to it, and the connections that read it.
import pg from 'pg'
import { openSession, type Session } from './session.js'
import { EventTable } from './table.js'

export interface Storage {
  table: EventTable
  readers: Pick<pg.Pool, 'query' | 'end'>
  /** Asks for the schema for so many ms. Throws `SchemaInUse` when another server keeps it. */
  openSession (patience: number): Promise<Session>
}

export function postgresStorage ({ databaseUrl, schema }: { databaseUrl: string, schema: string }): Storage {
  const readers = new pg.Pool({
    connectionString: databaseUrl,
    max: 4,
    keepAlive: true,
    application_name: 'ringledger-event-store-reader',
    connectionTimeoutMillis: 30_000
  })
  readers.on('error', () => {}) // an idle reader died with Postgres: the next read gets a new one
  const open = (patience: number) => openSession(databaseUrl, schema, patience)
  return { table: new EventTable(schema), readers, openSession: open }
}
