// Whatever stands in the source stands in the target: the same bytes, in the same order, once.
import { StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client'
import t, { type Test } from 'tap'
import { TransferRefused } from '../src/refused.js'
import { openStore } from '../src/store.js'
import { isSameLog, logOf, transfer, type Transferred } from '../src/transfer.js'
import type { Store } from '../src/store.js'
import { collect, refused, scratchEventStore } from '@ringledger/embedded-event-store/testing'
import { scratchPostgres } from '@ringledger/embedded-postgres/testing'
import { appendRaw, event, fillVaried, rawEvent, written } from '../src/testing/varied-log.js'

const postgres = await scratchPostgres(t)
let schemas = 0

async function place (t: Test) {
  const { client, store: { url } } = await scratchEventStore(t, { postgres, schema: `log_${schemas++}` })
  const store = openStore(url, 'EVENTSTORE_URL')
  t.teardown(() => store.close())
  return { client, store, url }
}

async function copy (from: Store, to: Store, options: { inFlight?: number, signal?: AbortSignal } = {}): Promise<Transferred> {
  return await transfer(await logOf(from), to, { inFlight: 256, signal: new AbortController().signal, onProgress () {}, ...options })
}

t.test('ids, types, bytes, metadata, revisions and order are kept, deletions and truncation too', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await fillVaried(source.client, source.store)
  const copied = await copy(source.store, target.store)
  t.same(await written(target.store), await written(source.store))
  t.match(copied, { events: 31, streams: 13, appended: 31, others: 0 })
  t.equal(copied.position.target, await target.store.head())

  for (const stream of ['assistant-1', 'Straße 🎧', 'truncated', 'recreated', 'links']) {
    const visible = async ({ client }: typeof source) => (await collect(client.readStream(stream))).map((found) => [found.event?.id, found.event?.revision])
    t.same(await visible(target), await visible(source), `${stream} shows the same`)
  }
  await refused(t, collect(target.client.readStream('gone')), StreamNotFoundError)
  await refused(t, collect(target.client.readStream('tombstoned')), StreamDeletedError)
  await refused(t, collect(target.client.readStream('$mine')), StreamNotFoundError)
  t.match((await target.client.getStreamMetadata('assistant-1')).metadata, { maxCount: 5, owner: 'me' })
})

t.test('a repeat appends nothing, a later one only what is new, and the hash is that of the log', async (t) => {
  const [source, target, other] = [await place(t), await place(t), await place(t)]
  await fillVaried(source.client, source.store)
  const first = await copy(source.store, target.store)
  const head = await target.store.head()
  t.match(await copy(source.store, target.store), { events: first.events, appended: 0, sha256: first.sha256 })
  t.equal(await target.store.head(), head)

  await source.client.appendToStream('assistant-1', [event()])
  await source.client.appendToStream('gone', [event('Back')])
  const tail = await copy(source.store, target.store)
  t.match(tail, { events: first.events + 3, appended: 3 }, 'with the metadata that brought the stream back')
  t.not(tail.sha256, first.sha256)
  t.match(await copy(target.store, other.store), { events: tail.events, sha256: tail.sha256 }, 'a copy of the copy has it as well')
})

t.test('with many appends under way the order of the whole log is kept', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  for (let round = 0; round < 6; round++) {
    await Promise.all(Array.from({ length: 200 }, (_, index) => source.client.appendToStream(`call-${(index * 7 + round) % 150}`, [event('Round', { round }), event()])))
  }
  await copy(source.store, target.store, { inFlight: 1024 })
  t.same(await written(target.store), await written(source.store))
})

t.test('two copiers at once double nothing', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  for (let round = 0; round < 10; round++) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => source.client.appendToStream(`lead-${index}`, [event(), event(), event()])))
  }
  const [one, other] = await Promise.all([copy(source.store, target.store, { inFlight: 16 }), copy(source.store, openedAgain(t, target.url), { inFlight: 3 })])
  t.equal(one.sha256, other.sha256)
  t.same(await written(target.store), await written(source.store))
})

t.test('other events in a stream of the source are refused by its name, and nothing is written', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('assistant-1', [event()])
  await source.client.appendToStream('lead-7', [event(), event()])
  for (const [stream, count] of [['lead-7', 1], ['lead-7', 3], ['assistant-1', 1]] as const) {
    const target = await place(t)
    await target.client.appendToStream(stream, Array.from({ length: count }, () => event()))
    const head = await target.store.head()
    await refused(t, copy(source.store, target.store), TransferRefused, { message: new RegExp(`stream ${stream} of the target holds another event`) })
    t.equal(await target.store.head(), head)
  }

  await copy(source.store, target.store)
  await target.client.appendToStream('lead-7', [event()])
  await refused(t, copy(source.store, target.store), TransferRefused, { message: /stream lead-7 .* at revision 2/ })
})

t.test('an event with the same id and anything else changed is refused', async (t) => {
  const source = await place(t)
  const original = rawEvent('a', 0n, '{"n":1}', '{"m":1}')
  await appendRaw(source.store, original)
  for (const change of [{ data: Buffer.from('{"n": 1}') }, { metadata: Buffer.from('{"m":2}') }, { type: 'Rav' }, { contentType: 'application/octet-stream' }]) {
    const target = await place(t)
    await appendRaw(target.store, { ...original, ...change })
    await refused(t, copy(source.store, target.store), TransferRefused, { message: /stream a of the target holds another event at revision 0/ })
  }
})

t.test('the same events in another order are refused', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  const [one, other] = [event(), event()]
  await source.client.appendToStream('a', [one])
  await source.client.appendToStream('b', [other])
  await target.client.appendToStream('b', [other])
  await target.client.appendToStream('a', [one])
  await refused(t, copy(source.store, target.store), TransferRefused, { message: /stream b of the target .*in another order/ })
})

t.test('streams that the source does not know are left alone and counted', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await target.client.appendToStream('theirs', [event(), event()])
  await source.client.appendToStream('ours', [event()])
  t.match(await copy(source.store, target.store), { events: 1, appended: 1, others: 2 })
  await target.client.appendToStream('theirs', [event()])
  t.match(await copy(source.store, target.store), { events: 1, appended: 0, others: 3 })
})

t.test('a stream that begins in the middle cannot be kept, and is refused by its name', async (t) => {
  const target = await place(t)
  const scavenged = { ...rawEvent('old', 7n, '{}'), position: 1n }
  const source = { head: 1n, async * read () { yield scavenged }, knows: async () => 'other' as const }
  await refused(t, transfer(source, target.store, { inFlight: 1, signal: new AbortController().signal, onProgress () {} }), TransferRefused, { message: /stream old has no revision 6: .* scavenged/ })
})

t.test('what is appended to the source meanwhile is left for the next copy', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('a', [event()])
  const log = await logOf(source.store)
  await source.client.appendToStream('a', [event()])
  t.match(await transfer(log, target.store, { inFlight: 1, signal: new AbortController().signal, onProgress () {} }), { events: 1 })
})

t.test('a log is recognised whatever its address', async (t) => {
  const [one, other] = [await place(t), await place(t)]
  t.ok(await isSameLog(one.store, openedAgain(t, one.url.replace('127.0.0.1', 'localhost'))))
  t.notOk(await isSameLog(one.store, other.store))
})

t.test('metadata that a server wrote when it brought a stream back is the same when it says the same', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('recreated', [event()])
  await appendRaw(source.store, { ...rawEvent('$$recreated', 0n, '{ "$tb": 9223372036854775807, "odd": [12345678901234567890] }'), type: '$metadata' })
  await source.client.appendToStream('recreated', [event('Again')])
  t.match(await copy(source.store, target.store), { events: 4 })
  t.same((await written(target.store)).filter((line) => line.includes('$metadata')), (await written(source.store)).filter((line) => line.includes('$metadata')))
})

t.test('metadata of a deleted stream bring it back in the target as they did in the source', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('emptied', [event()])
  for (const colour of ['red', 'blue']) {
    await source.client.deleteStream('emptied')
    await source.client.setStreamMetadata('emptied', { colour })
  }
  await source.client.appendToStream('emptied', [event('Again')])
  t.match(await copy(source.store, target.store), { events: 8, appended: 8 })
  t.match(await copy(source.store, target.store), { appended: 0 })
  t.same(await target.client.getStreamMetadata('emptied'), await source.client.getStreamMetadata('emptied'))
  t.same((await collect(target.client.readStream('emptied'))).map(({ event }) => event?.type), ['Again'])
})

function openedAgain (t: Test, url: string): Store {
  const store = openStore(url, 'EVENTSTORE_URL')
  t.teardown(() => store.close())
  return store
}
