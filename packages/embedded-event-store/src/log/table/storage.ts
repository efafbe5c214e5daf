// Where the log keeps its events: a table, the one session that writes to it, and the connections that read it.
import pg from 'pg'
import { Removals } from './removals.js'
import { openSession, type Session } from './session.js'
import { EventTable } from './table.js'

export interface Storage {
  table: EventTable
  removals: Removals
  readers: Pick<pg.Pool, 'query' | 'connect' | 'end'>
  /** Asks for the schema for so many ms. Throws `SchemaInUse` when another server keeps it. */
  openSession (patience: number): Promise<Session>
}

export interface PostgresPlace {
  databaseUrl: string
  schema: string
  /** How long a statement of the writer may take: after that its connection is given up for a new one. */
  statementMs?: number
}

/** A page is a few statements of milliseconds; a busy machine may take its time. */
const readMs = 15_000

export function postgresStorage ({ databaseUrl, schema, statementMs = 5_000 }: PostgresPlace): Storage {
  const readers = new pg.Pool({
    connectionString: databaseUrl,
    max: 4,
    keepAlive: true,
    application_name: 'ringledger-event-store-reader',
    connectionTimeoutMillis: 30_000,
    query_timeout: readMs
  })
  readers.on('error', () => {}) // an idle reader died with Postgres: the next read gets a new one
  // One can die in the hands of a read too, between two statements. The next one reports it: the process goes on.
  readers.on('connect', (reader) => reader.on('error', () => {}))
  const open = (patience: number) => openSession(databaseUrl, schema, { patience, statementMs })
  return { table: new EventTable(schema), removals: new Removals(schema), readers, openSession: open }
}
