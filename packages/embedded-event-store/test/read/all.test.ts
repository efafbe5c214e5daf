// $all is read by another way than streams, in rows as Postgres copies them: it shows the same events.
import t from 'tap'
import { ANY, binaryEvent, type EventData, jsonEvent, streamNameFilter } from '@eventstore/db-client'
import { collect, scratchEventStore } from '../support/index.js'

const { client } = await scratchEventStore(t)

const events: Record<string, EventData[]> = {
  plain: [jsonEvent({ type: 'Plain', data: { a: 1 }, metadata: { b: 2 } }), jsonEvent({ type: 'Plain', data: {} })],
  'ünïcödé-流': [jsonEvent({ type: 'Größe 🐘', data: { text: '🐘'.repeat(200) } })],
  bytes: [
    binaryEvent({ type: 'Empty', data: Buffer.alloc(0) }),
    binaryEvent({ type: 'Large', data: Buffer.alloc(300_000, 0xff), metadata: Buffer.from([0, 255, 10]) })
  ],
  [`long-${'x'.repeat(1_900)}`]: [jsonEvent({ type: 'T'.repeat(300), data: [] })]
}

t.test('what $all shows of an event is what its stream shows', async (t) => {
  for (const [stream, appended] of Object.entries(events)) await client.appendToStream(stream, appended)
  const all = (await collect(client.readAll())).map(({ event }) => event)
  for (const stream of Object.keys(events)) {
    const own = (await collect(client.readStream(stream))).map(({ event }) => event)
    t.strictSame(all.filter((event) => event?.streamId === stream), own)
    t.equal(own.length, events[stream]?.length)
  }
})

t.test('a tombstone has its revision in $all', async (t) => {
  await client.appendToStream('gone', jsonEvent({ type: 'Last', data: {} }))
  await client.tombstoneStream('gone', { expectedRevision: ANY })
  const last = (await collect(client.readAll())).at(-1)?.event
  t.match(last, { streamId: 'gone', type: '$streamDeleted', revision: 2n ** 63n - 1n })
})

t.test('events that are sent together come one by one, to many readers at once', async (t) => {
  for (let batch = 0; batch < 5; batch++) {
    await client.appendToStream('many', Array.from({ length: 500 }, (_, n) =>
      jsonEvent({ type: 'Counted', data: { n: batch * 500 + n } })))
  }
  const filter = streamNameFilter({ prefixes: ['many'] })
  await Promise.all(Array.from({ length: 5 }, async () => {
    const seen: unknown[] = []
    for await (const { event } of client.subscribeToAll({ filter })) {
      seen.push(event?.data)
      if (seen.length === 2_500) break
    }
    t.strictSame(seen, Array.from({ length: 2_500 }, (_, n) => ({ n })))
  }))
})
