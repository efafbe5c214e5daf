// The append decision, row by row, over both ways to append: batched, and one call per append.
import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import {
  AccessDeniedError, ANY, binaryEvent, jsonEvent, MaxAppendSizeExceededError, NO_STREAM, STREAM_EXISTS, StreamDeletedError, UnknownError, WrongExpectedVersionError,
  type AppendExpectedRevision, type EventStoreDBClient
} from '@eventstore/db-client'
import { collect, connect, refused, scratchEventStore } from '../src/testing/scratch-event-store.js'

const event = (type = 'Happened') => jsonEvent({ type, data: { at: 1 } })
const events = (count: number) => Array.from({ length: count }, () => event())
const { client, store } = await scratchEventStore(t)

// Credentials of its own make the client append by a call of its own.
const ways = {
  batch: {},
  unary: { credentials: { username: 'anyone', password: 'anything' } }
}

for (const [name, way] of Object.entries(ways)) {
  const stream = () => `${name}-${randomUUID()}`
  const append = (to: string, what: Parameters<EventStoreDBClient['appendToStream']>[1], expectedRevision: AppendExpectedRevision) => client.appendToStream(to, what, { ...way, expectedRevision })
  const wrong = (t: Test, call: Promise<unknown>, current: bigint | 'no_stream', expected: AppendExpectedRevision) => refused(t, call, WrongExpectedVersionError, { actualVersion: current, expectedVersion: expected })
  const idsOf = async (from: string) => (await collect(client.readStream(from))).map(({ event }) => event?.id)

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

  for (const expected of [ANY, NO_STREAM] as const) {
    t.test(`${name}: the same ids again at ${expected} answer the first revision and position`, async (t) => {
      const to = stream()
      const batch = events(2)
      const first = await append(to, batch, expected)
      await append(to, event(), 1n)
      t.same(await append(to, batch, expected), first)
      t.equal((await collect(client.readStream(to))).length, 3)
    })
  }

  t.test(`${name}: the same ids again at the exact revision of the first try answer it`, async (t) => {
    const to = stream()
    await append(to, events(2), NO_STREAM)
    const batch = events(2)
    const first = await append(to, batch, 1n)
    await append(to, events(2), 3n)
    t.same(await append(to, batch, 1n), first)
    t.same(await append(to, batch.slice(0, 1), 1n), { ...first, nextExpectedRevision: 2n, position: (await collect(client.readStream(to)))[2]?.event?.position })
  })

  t.test(`${name}: ids that only begin like recorded ones are refused`, async (t) => {
    const to = stream()
    const [a, b] = [event(), event()]
    await append(to, [a, b], NO_STREAM)
    await wrong(t, append(to, [a, b, event()], NO_STREAM), 1n, NO_STREAM)
    await wrong(t, append(to, [a, event()], NO_STREAM), 1n, NO_STREAM)
    await wrong(t, append(to, [a, event()], ANY), 1n, ANY)
    await wrong(t, append(to, [b, a], NO_STREAM), 1n, NO_STREAM)
    t.same(await idsOf(to), [a.id, b.id])
  })

  t.test(`${name}: at the current revision ids are not looked at`, async (t) => {
    const to = stream()
    const again = event()
    await append(to, again, NO_STREAM)
    t.equal((await append(to, again, 0n)).nextExpectedRevision, 1n)
    t.same(await idsOf(to), [again.id, again.id])
  })

  t.test(`${name}: an id that another stream holds is new to this one`, async (t) => {
    const shared = event()
    await append(stream(), shared, ANY)
    t.equal((await append(stream(), shared, ANY)).nextExpectedRevision, 0n)
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
    for (const expected of [ANY, NO_STREAM, STREAM_EXISTS, 0n] as const) await refused(t, append(to, event(), expected), StreamDeletedError, { streamName: to })
  })

  t.test(`${name}: what is larger than 1 MiB is refused with the limit`, async (t) => {
    const large = (bytes: number) => binaryEvent({ type: 'Large', data: new Uint8Array(bytes) })
    await refused(t, append(stream(), [large(1024 * 1024 - 9)], ANY), MaxAppendSizeExceededError, { maxAppendSize: 1024 * 1024 })
    t.equal((await append(stream(), [large(1024 * 1024 - 10)], ANY)).success, true, 'data and twice the type just fit')
    await refused(t, append(stream(), [large(600_000), large(600_000)], ANY), MaxAppendSizeExceededError)
  })

  t.test(`${name}: one of many writers at the same revision wins`, async (t) => {
    const to = stream()
    const results = await Promise.allSettled(events(40).map((event) => append(to, event, NO_STREAM)))
    t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
    t.equal((await collect(client.readStream(to))).length, 1)
  })

  t.test(`${name}: data, metadata, type and kind come back as they were`, async (t) => {
    const to = stream()
    const bytes = new Uint8Array([0, 1, 254, 255])
    await append(to, [
      jsonEvent({ type: 'Jsön', data: { text: 'ü\u0000😀', nested: [1, null] }, metadata: { $correlationId: 'c' } }),
      binaryEvent({ type: 'Bytes', data: bytes, metadata: bytes })
    ], NO_STREAM)
    const [json, binary] = (await collect(client.readStream(to))).map(({ event }) => event)
    t.match(json, { type: 'Jsön', isJson: true, data: { text: 'ü\u0000😀', nested: [1, null] }, metadata: { $correlationId: 'c' } })
    t.match(binary, { type: 'Bytes', isJson: false })
    t.same([binary?.data, binary?.metadata].map((value) => Buffer.from(value as Uint8Array)), [Buffer.from(bytes), Buffer.from(bytes)])
    t.ok(Math.abs((json?.created.getTime() ?? 0) - Date.now()) < 60_000)
  })
}

t.test('batched appends of one caller are decided in the order of the calls', async (t) => {
  const to = randomUUID()
  const batch = events(200)
  await Promise.all(batch.map((event, index) => client.appendToStream(to, event, { expectedRevision: index === 0 ? NO_STREAM : BigInt(index - 1) })))
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), batch.map(({ id }) => id))
})

t.test('a client that does not throw on a wrong revision gets its answer', async (t) => {
  const polite = connect(t, `${store.url}&throwOnAppendFailure=false`)
  const to = randomUUID()
  await polite.appendToStream(to, events(4))
  for (const way of Object.values(ways)) t.match(await polite.appendToStream(to, event(), { ...way, expectedRevision: NO_STREAM }), { success: false })
})

t.test('an event id in upper case is the same id', async (t) => {
  const to = randomUUID()
  const id = randomUUID()
  await client.appendToStream(to, jsonEvent({ id: id.toUpperCase(), type: 'A', data: {} }), { expectedRevision: NO_STREAM })
  await client.appendToStream(to, jsonEvent({ id, type: 'A', data: {} }), { expectedRevision: NO_STREAM })
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), [id])
})

t.test('stream names may be anything that is a name', async (t) => {
  for (const name of ['ä-ö', 'with space', '日本語-1', "quote'\"-1", 'a'.repeat(2000), '$system-1']) {
    await client.appendToStream(name, event())
    t.match(await collect(client.readStream(name)), [{ event: { streamId: name } }])
  }
  await refused(t, client.appendToStream('a'.repeat(2001), event()), UnknownError)
  await refused(t, client.appendToStream('$all', event()), AccessDeniedError)
})
