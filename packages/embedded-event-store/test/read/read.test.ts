// Finite reads, row by row: where each of them begins, which way it goes, and what is not found.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import t from 'tap'
import {
  BACKWARDS, binaryEvent, END, FORWARDS, jsonEvent, START, StreamDeletedError, streamNameFilter, StreamNotFoundError,
  UnknownError, type Direction, type ReadPosition, type ReadRevision, type ResolvedEvent
} from '@eventstore/db-client'
import { collect, refused, scratchEventStore } from '../support/scratch-event-store.js'

const { client } = await scratchEventStore(t)
const event = (type = 'Happened') => jsonEvent({ type, data: {} })
const revisions = (read: readonly ResolvedEvent[]) => read.map(({ event }) => Number(event?.revision))

t.test('a stream is read from a revision, either way', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event(), event(), event(), event()])
  const read = async (direction: Direction, fromRevision: ReadRevision, maxCount = Number.MAX_SAFE_INTEGER) =>
    revisions(await collect(client.readStream(stream, { direction, fromRevision, maxCount })))
  t.same(await read(FORWARDS, START), [0, 1, 2, 3])
  t.same(await read(FORWARDS, 2n), [2, 3])
  await refused(t, read(FORWARDS, END), UnknownError)
  await refused(t, read(BACKWARDS, END, 0), UnknownError)
  t.same(await read(FORWARDS, 4n), [], 'past the end')
  t.same(await read(BACKWARDS, START), [0])
  t.same(await read(BACKWARDS, 2n), [2, 1, 0])
  t.same(await read(BACKWARDS, END), [3, 2, 1, 0])
  t.same(await read(BACKWARDS, 99n), [3, 2, 1, 0], 'from past the end it starts at the last event')
  t.same(await read(FORWARDS, 1n, 2), [1, 2])
  t.same(await read(BACKWARDS, END, 1), [3])
})

t.test('a stream that was never written to is not found', async (t) => {
  await refused(t, collect(client.readStream('nowhere')), StreamNotFoundError, { streamName: 'nowhere' })
  await client.setStreamMetadata('only-metadata', { maxCount: 3 })
  await refused(t, collect(client.readStream('only-metadata')), StreamNotFoundError)
})

t.test('a tombstoned stream is an error', async (t) => {
  await client.appendToStream('ended', event())
  await client.tombstoneStream('ended')
  await refused(t, collect(client.readStream('ended')), StreamDeletedError, { streamName: 'ended' })
})

t.test('$all is read from a position, either way: forwards with it, backwards without it', async (t) => {
  const stream = randomUUID()
  const first = await client.appendToStream(stream, event())
  await client.appendToStream(stream, [event(), event()])
  const at = first.position ?? { commit: 0n, prepare: 0n }
  const read = async (direction: Direction, fromPosition: ReadPosition) => {
    const all = await collect(client.readAll({ direction, fromPosition }))
    return revisions(all.filter(({ event }) => event?.streamId === stream))
  }
  t.same(await read(FORWARDS, at), [0, 1, 2])
  t.same(await read(BACKWARDS, at), [])
  t.same(await read(BACKWARDS, { commit: at.commit + 1n, prepare: at.prepare + 1n }), [0])
  t.same(await read(BACKWARDS, END), [2, 1, 0])
  await refused(t, collect(client.readAll({ direction: FORWARDS, fromPosition: END })), UnknownError)
  await refused(t, collect(client.readAll({ maxCount: 0 })), UnknownError)
  t.same(await collect(client.readAll({ direction: BACKWARDS, fromPosition: START })), [])
  t.equal((await collect(client.readAll({ maxCount: 2 }))).length, 2)
})

t.test('a position of $all that no event has is refused', async (t) => {
  const { position: last = { commit: 0n, prepare: 0n } } = await client.appendToStream(randomUUID(), event())
  for (const direction of [FORWARDS, BACKWARDS] as const) {
    const read = (commit: bigint, prepare: bigint) => (
      collect(client.readAll({ direction, fromPosition: { commit, prepare } }))
    )
    await refused(t, read(last.commit + 1n, last.prepare + 1n), UnknownError, { message: /InvalidPosition/ })
    await refused(t, read(last.commit, last.prepare - 1n), UnknownError, { message: /InvalidPosition/ })
    t.ok(await read(last.commit, last.prepare))
  }
})

t.test('positions begin at 1 and grow with every event, over all streams', async (t) => {
  const positions = (await collect(client.readAll())).map(({ commitPosition }) => commitPosition ?? 0n)
  t.ok((positions[0] ?? 0n) >= 1n)
  t.same(positions, [...new Set(positions)].sort((a, b) => Number(a - b)))
})

t.test('$all still shows what its stream does not: events of deleted and truncated streams', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, [event('First'), event('Second')])
  await client.deleteStream(stream)
  const shown = (await collect(client.readAll())).filter(({ event }) => event?.streamId === stream)
  t.same(shown.map(({ event }) => event?.type), ['First', 'Second'])
})

t.test('more events than a page, and larger than a page, arrive complete and in order', async (t) => {
  const stream = randomUUID()
  await client.appendToStream(stream, Array.from({ length: 1200 }, () => event()))
  const large = () => binaryEvent({ type: 'Large', data: new Uint8Array(900_000) })
  for (let n = 0; n < 6; n++) await client.appendToStream(stream, large())
  const expected = Array.from({ length: 1206 }, (_, index) => index)
  t.same(revisions(await collect(client.readStream(stream))), expected)
  const backwards = await collect(client.readStream(stream, { direction: BACKWARDS, fromRevision: END }))
  t.same(revisions(backwards), expected.reverse())
})

t.test('a reader that stops reading is not sent the rest, and the server goes on', async (t) => {
  const reading = client.readAll()
  for await (const { event } of reading) if (event !== undefined) break
  await reading.cancel()
  t.equal((await client.appendToStream(randomUUID(), event())).success, true)
})

t.test('$all does not show the server\'s own bookkeeping', async (t) => {
  const tag = randomUUID().slice(0, 8)
  const ofAll = `$persistentsubscription-$all::${tag}`
  const hidden = ['$epoch-information', `${ofAll}-parked`, `${ofAll}-checkpoint`]
  const shown = `$persistentsubscription-${tag}::group-parked`
  for (const stream of [...hidden, shown]) await client.appendToStream(stream, event(tag))
  const all = await collect(client.readAll())
  const streams = all.flatMap(({ event }) => event?.type === tag ? [event.streamId] : [])
  t.same(streams, [shown])
  const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['$'] }) })
  const followed: string[] = []
  subscription.on('data', ({ event }) => { if (event?.type === tag) followed.push(event.streamId) })
  await once(subscription, 'caughtUp')
  await subscription.unsubscribe()
  t.same(followed, [shown])
  t.equal((await collect(client.readStream(hidden[0] ?? ''))).length, 1, 'by its name it is read')
})
