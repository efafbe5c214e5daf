// An append of very many events gives way to others, and is there as a whole or not at all.
import { randomUUID } from 'node:crypto'
import { jsonEvent, NO_STREAM, StreamNotFoundError } from '@eventstore/db-client'
import { eventually, scratchPostgres } from '@ringledger/embedded-postgres/testing'
import type pg from 'pg'
import t from 'tap'
import { postgresStorage, type Storage } from '../src/log/table/storage.js'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'

const many = 12_000
const tiny = (count: number) => Array.from({ length: count }, () => jsonEvent({ type: 'A', data: {} }))

interface Watched extends Storage {
  /** How many events each insert of the writer had. */
  inserts: number[]
  /** Called before each of them. */
  beforeInsert: (() => Promise<void>) | undefined
}

/** On Postgres, with an eye on the statements of the writer. */
function watched (databaseUrl: string): Watched {
  const storage = postgresStorage({ databaseUrl, schema: 'eventstore' })
  const watched: Watched = {
    ...storage,
    inserts: [],
    beforeInsert: undefined,
    openSession: async (patience) => {
      const session = await storage.openSession(patience)
      const query = session.client.query.bind(session.client)
      const client = Object.create(session.client, {
        query: {
          value: async (statement: string | pg.QueryConfig<Buffer[]>, values?: unknown[]) => {
            if (typeof statement === 'string') return await query(statement, values)
            if (statement.name !== 'insert') return await query(statement)
            watched.inserts.push(statement.values?.[0]?.readInt32BE(12) ?? 0) // elements of the array of positions
            await watched.beforeInsert?.()
            return await query(statement)
          }
        }
      })
      return { ...session, client }
    }
  }
  return watched
}

t.test('it goes over in parts with one commit, and is not seen before it is whole', async (t) => {
  const postgres = await scratchPostgres(t)
  const storage = watched(postgres.url)
  const { client } = await scratchEventStore(t, { postgres, storage })
  const stream = randomUUID()
  await client.appendToStream('other', tiny(1))
  storage.inserts.length = 0
  let reads = 0
  storage.beforeInsert = async () => {
    await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
    reads += (await collect(client.readStream('other'))).length
  }
  await client.appendToStream(stream, tiny(many), { expectedRevision: NO_STREAM })
  t.same(storage.inserts, [10_000, 2_000])
  t.equal(reads, 2, 'others read between its parts')
  const read = await collect(client.readStream(stream))
  t.same(read.map(({ event }) => Number(event?.revision)), Array.from({ length: many }, (_, revision) => revision))
})

t.test('when a part fails, nothing of it is there', async (t) => {
  const postgres = await scratchPostgres(t)
  const storage = watched(postgres.url)
  const { client } = await scratchEventStore(t, { postgres, storage })
  const stream = randomUUID()
  storage.beforeInsert = async () => { if (storage.inserts.length === 2) throw new Error('cut') }
  await t.rejects(client.appendToStream(stream, tiny(many), { expectedRevision: NO_STREAM }))
  storage.beforeInsert = undefined
  const again = await eventually(() => client.appendToStream('other', tiny(1)).catch(() => false as const))
  t.match(again, { success: true })
  await refused(t, collect(client.readStream(stream)), StreamNotFoundError)
})
