// What Postgres does without a server in front of it: the same rows, by hand.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { percentile } from '../support/statistics.js'
import { event } from './load.js'
import type { Rate } from './load.js'

/** Inserts `rows` rows a statement, one statement after the other, each a commit. */
export async function inserts (databaseUrl: string, rows: number, seconds: number): Promise<Rate> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(`create table if not exists raw (
    position bigserial primary key, stream text, revision int8, id uuid, type text, is_json bool, created int8,
    metadata bytea, data bytea, unique (stream, revision))`)
  const text = `insert into raw (stream, revision, id, type, is_json, created, metadata, data)
    select * from unnest($1::text[], $2::int8[], $3::uuid[], $4::text[], $5::bool[], $6::int8[], $7::bytea[],
      $8::bytea[])`
  const latencies: number[] = []
  const stream = randomUUID()
  const beginAt = performance.now() + 1_000
  for (let revision = 0; performance.now() < beginAt + seconds * 1_000; revision += rows) {
    const values = columns(stream, revision, rows)
    const sentAt = performance.now()
    await client.query({ name: 'insert', text, values })
    if (sentAt >= beginAt) latencies.push(performance.now() - sentAt)
  }
  await client.end()
  return {
    perSecond: latencies.length * rows / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99)
  }
}

function columns (stream: string, revision: number, rows: number): unknown[][] {
  const events = Array.from({ length: rows }, (_, index) => ({ ...event(), index }))
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  return [
    events.map(() => stream),
    events.map(({ index }) => revision + index),
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(() => true),
    events.map(() => Date.now()),
    events.map(({ metadata }) => json(metadata)),
    events.map(({ data }) => json(data))
  ]
}

/** Reads the first `count` events by a cursor, a thousand rows at a time. @returns rows a second */
export async function cursor (databaseUrl: string, count: number): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const startedAt = performance.now()
  await client.query('begin')
  await client.query('declare events no scroll cursor for select * from eventstore.events order by position')
  let seen = 0
  while (seen < count) seen += (await client.query('fetch 1000 from events')).rowCount ?? 0
  const perSecond = seen / (performance.now() - startedAt) * 1_000
  await client.end()
  return perSecond
}
