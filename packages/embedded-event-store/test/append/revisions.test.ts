// The append decision, row by row, over both ways to append: batched, and one call per append.
import {
  ANY, NO_STREAM, STREAM_EXISTS, StreamDeletedError
} from '@eventstore/db-client'
import t from 'tap'
import { collect, refused, scratchEventStore } from '../support/scratch-event-store.js'
import { appending, event, events, wrong } from '../support/append-ways.js'

const { client } = await scratchEventStore(t)

for (const name of ['batch', 'unary'] as const) {
  const { stream, append } = appending(client, name)

  t.test(`${name}: an append answers the revision and the position of its last event`, async (t) => {
    const to = stream()
    const first = await append(to, events(2), NO_STREAM)
    t.match(first, { success: true, nextExpectedRevision: 1n })
    const second = await append(to, event(), 1n)
    t.equal(second.nextExpectedRevision, 2n)
    t.ok((second.position?.commit ?? 0n) > (first.position?.commit ?? 0n))
    t.equal(second.position?.commit, second.position?.prepare)
    const read = await collect(client.readStream(to))
    t.same(read.map(({ event }) => event?.revision), [0n, 1n, 2n])
    t.same(read.at(-1)?.event?.position, second.position)
  })

  t.test(`${name}: a revision that is not the current one is refused, and named`, async (t) => {
    const to = stream()
    await wrong(t, append(to, event(), 0n), 'no_stream', 0n)
    await wrong(t, append(to, event(), STREAM_EXISTS), 'no_stream', STREAM_EXISTS)
    await append(to, events(3), NO_STREAM)
    await wrong(t, append(to, event(), NO_STREAM), 2n, NO_STREAM)
    await wrong(t, append(to, event(), 1n), 2n, 1n)
    await wrong(t, append(to, event(), 5n), 2n, 5n)
    t.equal((await collect(client.readStream(to))).length, 3, 'nothing was written by a refused append')
  })

  t.test(`${name}: any and stream_exists append to what is there`, async (t) => {
    const to = stream()
    t.equal((await append(to, event(), ANY)).nextExpectedRevision, 0n)
    t.equal((await append(to, event(), STREAM_EXISTS)).nextExpectedRevision, 1n)
    t.equal((await append(to, event(), ANY)).nextExpectedRevision, 2n)
  })

  t.test(`${name}: stream_exists holds for a stream that has only metadata`, async (t) => {
    const to = stream()
    await client.setStreamMetadata(to, { maxCount: 10 })
    t.equal((await append(to, event(), STREAM_EXISTS)).nextExpectedRevision, 0n)
  })

  t.test(`${name}: an empty append checks the revision and writes nothing`, async (t) => {
    const to = stream()
    t.equal((await append(to, [], NO_STREAM)).success, true)
    await wrong(t, append(to, [], 3n), 'no_stream', 3n)
    await append(to, event(), NO_STREAM)
    await wrong(t, append(to, [], NO_STREAM), 0n, NO_STREAM)
    t.equal((await append(to, [], 0n)).nextExpectedRevision, 0n)
    t.equal((await collect(client.readStream(to))).length, 1)
  })

  t.test(`${name}: a tombstoned stream refuses every append`, async (t) => {
    const to = stream()
    await append(to, event(), ANY)
    await client.tombstoneStream(to)
    for (const expected of [ANY, NO_STREAM, STREAM_EXISTS, 0n] as const) {
      await refused(t, append(to, event(), expected), StreamDeletedError, { streamName: to })
    }
  })

  t.test(`${name}: one of many writers at the same revision wins`, async (t) => {
    const to = stream()
    const results = await Promise.allSettled(events(40).map((event) => append(to, event, NO_STREAM)))
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    t.equal((await collect(client.readStream(to))).length, 1)
  })
}
