// Appends to streams that are new: no look into the table comes first, and those that only claim it are found out.
import { NO_STREAM, StreamDeletedError } from '@eventstore/db-client'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'
import type pg from 'pg'
import t, { type Test } from 'tap'
import { postgresStorage } from '../../src/log/table/storage.js'
import { EventTable } from '../../src/log/table/table.js'
import { collect, refused, scratchEventStore } from '../support/scratch-event-store.js'
import { event, events, wrong } from '../support/append-ways.js'

/** What the streams of a former server hold that the next one knows nothing of. */
async function former (t: Test) {
  const postgres = await scratchPostgres(t)
  const { client, store } = await scratchEventStore(t, { postgres })
  const known = events(2)
  await client.appendToStream('filled', known, { expectedRevision: NO_STREAM })
  await client.appendToStream('deleted', events(2))
  await client.deleteStream('deleted')
  await client.appendToStream('tombstoned', event())
  await client.tombstoneStream('tombstoned')
  await client.setStreamMetadata('described', { maxCount: 1 })
  await store.close()
  return { postgres, known }
}

t.test('no look precedes an append to a new stream; one precedes an append to a stream of a former server', async (t) => {
  const { postgres } = await former(t)
  const looks: string[] = []
  class Watched extends EventTable {
    override async states (on: pg.Client, streams: readonly string[]) {
      looks.push(...streams)
      return await super.states(on, streams)
    }
  }
  const storage = { ...postgresStorage({ databaseUrl: postgres.url, schema: 'eventstore' }), table: new Watched('eventstore') }
  const { client } = await scratchEventStore(t, { postgres, storage })
  await Promise.all(
    ['a', 'b', 'c'].map((stream) => client.appendToStream(stream, event(), { expectedRevision: NO_STREAM }))
  )
  t.same(looks, [])
  await client.appendToStream('a', event(), { expectedRevision: 0n })
  t.same(looks, [], 'and what it has written it knows')
  await client.appendToStream('filled', event(), { expectedRevision: 1n })
  t.same(looks, ['filled'])
})

t.test('streams of a former server are no new ones, alone and among new ones', async (t) => {
  const { postgres, known } = await former(t)
  const { client } = await scratchEventStore(t, { postgres })
  const toNone = { expectedRevision: NO_STREAM } as const
  const isWritten = { success: true, nextExpectedRevision: 0n }
  const [isNew, , , repeated, again, counted] = await Promise.all([
    client.appendToStream('new', event(), toNone),
    wrong(t, client.appendToStream('filled', event(), toNone), 1n, NO_STREAM),
    refused(t, client.appendToStream('tombstoned', event(), toNone), StreamDeletedError),
    client.appendToStream('filled', known, toNone),
    client.appendToStream('deleted', event(), toNone),
    client.appendToStream('described', events(3), toNone),
    client.appendToStream('other', event(), toNone)
  ])
  t.match(isNew, isWritten)
  t.match(repeated, { nextExpectedRevision: 1n }, 'a repeat is known by its ids')
  t.match(again, { nextExpectedRevision: 2n }, 'a deleted stream goes on')
  t.match(counted, { nextExpectedRevision: 2n })
  t.equal((await collect(client.readStream('described'))).length, 1, 'under the metadata that it had')
  t.equal((await collect(client.readStream('filled'))).length, 2)
  t.same((await collect(client.readStream('new'))).map(({ event }) => event?.revision), [0n])
})

t.test('two appends to one new stream at once: one is written', async (t) => {
  const { client } = await scratchEventStore(t)
  const append = () => client.appendToStream('a', event(), { expectedRevision: NO_STREAM })
  const settled = await Promise.allSettled([append(), append()])
  t.same(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  t.equal((await collect(client.readStream('a'))).length, 1)
})

t.test('an append without events to a stream that is said to be new is looked up', async (t) => {
  const { postgres } = await former(t)
  const { client } = await scratchEventStore(t, { postgres })
  await wrong(t, client.appendToStream('filled', [], { expectedRevision: NO_STREAM }), 1n, NO_STREAM)
})
