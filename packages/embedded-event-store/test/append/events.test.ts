// What an append writes: ids that were seen before, contents, sizes, names.
import { randomUUID } from 'node:crypto'
import {
  ANY, binaryEvent, jsonEvent, MaxAppendSizeExceededError, NO_STREAM, UnknownError
} from '@eventstore/db-client'
import t from 'tap'
import { collect, connect, refused, scratchEventStore } from '../support/scratch-event-store.js'
import { appending, event, events, ways, wrong } from '../support/append-ways.js'

const { client, store } = await scratchEventStore(t)

for (const name of ['batch', 'unary'] as const) {
  const { stream, append, idsOf } = appending(client, name)

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
    const position = (await collect(client.readStream(to)))[2]?.event?.position
    t.same(await append(to, batch.slice(0, 1), 1n), { ...first, nextExpectedRevision: 2n, position })
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

  t.test(`${name}: an id that another stream had first is new to this one, again and again`, async (t) => {
    const shared = event()
    await append(stream(), shared, ANY)
    const to = stream()
    t.equal((await append(to, shared, ANY)).nextExpectedRevision, 0n)
    t.equal((await append(to, shared, ANY)).nextExpectedRevision, 1n)
  })

  t.test(`${name}: what is larger than 1 MiB is refused with the limit`, async (t) => {
    const large = (bytes: number) => binaryEvent({ type: 'Large', data: new Uint8Array(bytes) })
    const limit = { maxAppendSize: 1024 * 1024 }
    await refused(t, append(stream(), [large(1024 * 1024 - 9)], ANY), MaxAppendSizeExceededError, limit)
    t.equal((await append(stream(), [large(1024 * 1024 - 10)], ANY)).success, true, 'data and twice the type just fit')
    await refused(t, append(stream(), [large(600_000), large(600_000)], ANY), MaxAppendSizeExceededError)
  })

  t.test(`${name}: data, metadata, type and kind come back as they were`, async (t) => {
    const to = stream()
    const bytes = new Uint8Array([0, 1, 254, 255])
    await append(to, [
      jsonEvent({ type: 'Jsön', data: { text: 'ü\u0000😀', nested: [1, null] }, metadata: { $correlationId: 'c' } }),
      binaryEvent({ type: 'Bytes', data: bytes, metadata: bytes })
    ], NO_STREAM)
    const [json, binary] = (await collect(client.readStream(to))).map(({ event }) => event)
    const data = { text: 'ü\u0000😀', nested: [1, null] }
    t.match(json, { type: 'Jsön', isJson: true, data, metadata: { $correlationId: 'c' } })
    t.match(binary, { type: 'Bytes', isJson: false })
    const found = [binary?.data, binary?.metadata].map((value) => Buffer.from(value as Uint8Array))
    t.same(found, [Buffer.from(bytes), Buffer.from(bytes)])
    t.ok(Math.abs((json?.created.getTime() ?? 0) - Date.now()) < 60_000)
  })
}

t.test('batched appends of one caller are decided in the order of the calls', async (t) => {
  const to = randomUUID()
  const batch = events(200)
  await Promise.all(batch.map(async (event, index) => {
    await client.appendToStream(to, event, { expectedRevision: index === 0 ? NO_STREAM : BigInt(index - 1) })
  }))
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), batch.map(({ id }) => id))
})

t.test('a client that does not throw on a wrong revision gets its answer', async (t) => {
  const polite = connect(t, `${store.url}&throwOnAppendFailure=false`)
  const to = randomUUID()
  await polite.appendToStream(to, events(4))
  for (const way of Object.values(ways)) {
    const answer = await polite.appendToStream(to, event(), { ...way, expectedRevision: NO_STREAM })
    t.match(answer, { success: false })
  }
})

t.test('an event id is a UUID as .NET reads one, but not the one of zeros', async (t) => {
  const to = randomUUID()
  const id = randomUUID()
  const append = (id: string) => (
    client.appendToStream(to, jsonEvent({ id, type: 'A', data: {} }), { expectedRevision: NO_STREAM })
  )
  for (const same of [id.toUpperCase(), id, ` ${id} `, `{${id}}`, `(${id})`, id.replaceAll('-', '')]) await append(same)
  t.same((await collect(client.readStream(to))).map(({ event }) => event?.id), [id])
  await refused(t, append('00000000-0000-0000-0000-000000000000'), UnknownError)
})

t.test('stream names may be anything that is a name', async (t) => {
  for (const name of ['ä-ö', 'with space', '日本語-1', "quote'\"-1", 'a'.repeat(2000), '$system-1']) {
    await client.appendToStream(name, event())
    t.match(await collect(client.readStream(name)), [{ event: { streamId: name } }])
  }
  await refused(t, client.appendToStream('a'.repeat(2001), event()), UnknownError)
  await client.setStreamMetadata('a'.repeat(2000), { maxCount: 1 })
  t.match(await client.getStreamMetadata('a'.repeat(2000)), { metadata: { maxCount: 1 } })
  await refused(t, client.setStreamMetadata('a'.repeat(2001), { maxCount: 1 }), UnknownError)
  t.match(await client.appendToStream('$all', event()), { nextExpectedRevision: 0n }, '$all is a name as well')
  await refused(t, client.appendToStream('$$', event()), UnknownError)
})
