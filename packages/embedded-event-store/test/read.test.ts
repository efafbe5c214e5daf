// Finite reads, row by row: where each of them begins, which way it goes, and what is not found.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import {
  BACKWARDS, binaryEvent, END, FORWARDS, jsonEvent, START, streamNameFilter,
  UnknownError, type Direction, type ReadPosition, type ReadRevision, type ResolvedEvent, type EventData
} from '@eventstore/db-client'
import { collect, refused, scratchEventStore } from './support/scratch-event-store.js'

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

t.test('events that are sent together come one by one, to many readers at once', async (t) => {
  for (let batch = 0; batch < 3; batch++) {
    await client.appendToStream('many', Array.from({ length: 500 }, (_, n) =>
      jsonEvent({ type: 'Counted', data: { n: batch * 500 + n } })))
  }
  const filter = streamNameFilter({ prefixes: ['many'] })
  await Promise.all(Array.from({ length: 3 }, async () => {
    const seen: unknown[] = []
    for await (const { event } of client.subscribeToAll({ filter })) {
      seen.push(event?.data)
      if (seen.length === 1_500) break
    }
    t.strictSame(seen, Array.from({ length: 1_500 }, (_, n) => ({ n })))
  }))
})

const link = (to: string) => binaryEvent({ type: '$>', data: Buffer.from(to) })

t.test('links are followed when asked for, and shown alone when their target cannot be seen', async (t) => {
  const [target, links, gone] = [randomUUID(), randomUUID(), randomUUID()]
  await client.appendToStream(target, [event('Zero'), event('One')])
  await client.appendToStream(gone, event())
  await client.deleteStream(gone)
  const all = [`1@${target}`, `7@${target}`, `0@${gone}`, `-1@${target}`]
  await client.appendToStream(links, [...all.map(link), event('Plain')])
  const followed = await collect(client.readStream(links, { resolveLinkTos: true }))
  t.match(followed[0], {
    event: { type: 'One', streamId: target, revision: 1n },
    link: { type: '$>', streamId: links, revision: 0n }
  })
  t.equal(followed[0]?.commitPosition, followed[0]?.link?.position?.commit)
  const shownAlone = [undefined, '$>']
  const types = followed.map(({ event, link }) => [event?.type, link?.type])
  t.same(types, [['One', '$>'], shownAlone, shownAlone, shownAlone, ['Plain', undefined]])
  const plain = await collect(client.readStream(links))
  t.same(plain.map(({ event }) => event?.type), ['$>', '$>', '$>', '$>', 'Plain'])
})
