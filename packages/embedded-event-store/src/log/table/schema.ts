// The tables: one row an event, nothing that is not an event. Deletion and retention are events too.
import pg from 'pg'

const version = 1

/** Creates what is missing. Idempotent; the caller holds the schema's lock. */
export async function createSchema (client: pg.Client, schema: string): Promise<void> {
  const name = pg.escapeIdentifier(schema)
  const present = 'select to_regclass($1) is not null as present'
  const { rows: [found] } = await client.query<{ present: boolean }>(present, [`${name}.layout`])
  if (found?.present !== true) await client.query(layout(name))
  const { rows: [made] } = await client.query<{ version: number }>(`select version from ${name}.layout`)
  if (made?.version === version) return
  throw new Error(`The schema ${name} has layout ${made?.version}; this event store knows ${version}`)
}

// Names and types sort by bytes ("C"): shorter keys, quicker comparisons.
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
