// Refuses servers that hold something: the drill writes what only its own service understands.
import { BACKWARDS, END, type EventStoreDBClient } from '@eventstore/db-client'
import { Redis } from 'ioredis'
import pg from 'pg'
import { reachableHead } from '../../src/services/back-end-unreachable.js'
import { lentClient } from '../../src/log/connection.js'
import type { Servers } from './options.js'

/** Says what to do; nothing was written. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty'
}

/** @throws NotEmpty, and what a server that cannot be reached is refused with */
export async function assertEmpty ({ eventstore, database, redis }: Servers): Promise<void> {
  await assertNoEvents(eventstore)
  await assertNoTables(database)
  if (redis !== undefined) await assertNoKeys(redis)
}

/** What the server wrote by itself does not count. */
async function assertNoEvents (url: string): Promise<void> {
  const client = lentClient(url)
  try {
    await reachableHead({ url, setting: '--eventstore' }, () => headOf(client))
    for await (const { event } of client.readAll()) {
      if (event && !event.streamId.startsWith('$')) throw notEmpty('--eventstore', `has the stream ${event.streamId}`)
    }
  } finally {
    await client.dispose()
  }
}

async function headOf (client: EventStoreDBClient): Promise<bigint> {
  let head = 0n
  const last = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 })
  for await (const { event } of last) head = event?.position.commit ?? 0n
  return head
}

async function assertNoTables (connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    const { rows: [table] } = await client.query<{ name: string }>(`
      SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') LIMIT 1`)
    if (table) throw notEmpty('--database', `has the table ${table.name}`)
  } finally {
    await client.end()
  }
}

async function assertNoKeys (url: string): Promise<void> {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  client.on('error', () => {}) // the request says it
  try {
    const keys = await client.dbsize()
    if (keys > 0) throw notEmpty('--redis', `has ${keys} ${keys === 1 ? 'key' : 'keys'}`)
  } finally {
    client.disconnect()
  }
}

function notEmpty (option: string, what: string): NotEmpty {
  return new NotEmpty(`${option} is not empty: it ${what}. The drill writes to its servers and leaves what it wrote, so ` +
    'give it new ones. Nothing was written.')
}
