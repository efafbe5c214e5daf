// Storage of the log: a table, the one session that writes to it, and the connections that read it.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { EventTable } from './table.js'

export interface Storage {
  table: EventTable
  readers: Pick<pg.Pool, 'query' | 'connect' | 'end'>
  /** Tries for `patience` ms to lock the schema. @throws SchemaInUse when another server keeps it */
  openSession (patience: number): Promise<Session>
}

interface PostgresPlace {
  databaseUrl: string
  schema: string
  /** Timeout of the writer's statements: afterwards the writer opens a new connection. */
  statementMs?: number
}

/** A page takes a few statements of milliseconds, but a busy machine may be slow. */
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
  readers.on('error', () => {}) // an idle reader died with Postgres: the next read opens a new one
  // A reader may also die in use, between two statements. The next statement reports it; the process survives.
  readers.on('connect', (reader) => reader.on('error', () => {}))
  const open = (patience: number) => openSession({ databaseUrl, schema, statementMs }, patience)
  return { table: new EventTable(schema), readers, openSession: open }
}

export interface Session {
  client: pg.Client
  /** Resolves when the connection is lost. */
  ended: Promise<Error>
}

export class SchemaInUse extends Error {
  constructor (schema: string) {
    super(`Another event store is serving the schema "${schema}" of this database`)
  }
}

// Two numbers name the advisory lock: ours, and a hash of the schema.
const lockClass = 0x52_4c_45_53

/**
 * The writer looks rows up by key, and planning takes as long as running. So Postgres plans each statement once, and
 * never as a table scan, even if the table is small at that time.
 */
const planning = 'set plan_cache_mode = force_generic_plan; set enable_seqscan = off'

/** Interval of heartbeats, in ms. */
const heartbeatMs = 2_000

/** Postgres drops a session whose peer is silent after about ten seconds, and its lock with it. */
const durable = `
  set synchronous_commit = on; -- also where the default is off
  set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3`

/**
 * Opens the one session that may write. It holds the schema's lock, so a server that loses the lock cannot write. It
 * ends when Postgres is silent.
 * @param patience how long to try, in ms, while another session holds the lock, perhaps that of a killed server
 * @throws SchemaInUse when another session keeps the lock
 */
async function openSession (
  { databaseUrl, schema, statementMs }: Required<PostgresPlace>, patience: number
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

/** Ends a silent session, even while nobody writes. */
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

const version = 1

/** Creates missing tables. Idempotent; the caller holds the schema's lock. */
export async function createSchema (client: pg.Client, schema: string): Promise<void> {
  const name = pg.escapeIdentifier(schema)
  const present = 'select to_regclass($1) is not null as present'
  const { rows: [found] } = await client.query<{ present: boolean }>(present, [`${name}.layout`])
  if (found?.present !== true) await client.query(layout(name))
  const { rows: [made] } = await client.query<{ version: number }>(`select version from ${name}.layout`)
  if (made?.version === version) return
  throw new Error(`The schema ${name} has layout ${made?.version}; this event store knows ${version}`)
}

// Names and types sort by bytes ("C"): shorter keys, faster comparisons.
const layout = (schema: string) => `
  begin;
  create schema if not exists ${schema};
  create table ${schema}.events (
    position bigint primary key check (position > 0),
    stream   text   collate "C" not null,
    revision bigint not null check (revision >= 0),
    id       uuid   not null,
    type     text   collate "C" not null,
    is_json  boolean not null,
    created  bigint not null, -- Unix milliseconds
    metadata bytea  not null,
    data     bytea  not null,
    unique (stream, revision)
  );
  create table ${schema}.layout (version int not null);
  insert into ${schema}.layout values (${version});
  -- A real node is never quite empty either: consumers must pass over what begins with a dollar sign.
  insert into ${schema}.events values (
    1, '$embedded-event-store', 0, gen_random_uuid(), '$LogCreated', true, extract(epoch from now()) * 1000,
    '', '{"layout":${version}}'
  );
  commit`
