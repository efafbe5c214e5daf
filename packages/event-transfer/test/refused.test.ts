// What a transfer refuses because the target holds something else, and what it leaves alone.
import { collect, refused, scavenge } from '@ringledger/embedded-event-store/testing'
import t from 'tap'
import { TransferRefused } from '../src/failure.js'
import { Limits } from '../src/source.js'
import { appendRaw, event, rawEvent } from './support/varied-log.js'
import { transfer } from '../src/transfer.js'
import { copy, placesOn } from './support/place.js'

const place = await placesOn(t)

t.test('other events in a stream of the source are refused by its name, and nothing is written', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('assistant-1', [event()])
  await source.client.appendToStream('lead-7', [event(), event()])
  for (const [stream, count] of [['lead-7', 1], ['lead-7', 3], ['assistant-1', 1]] as const) {
    const target = await place(t)
    await target.client.appendToStream(stream, Array.from({ length: count }, () => event()))
    const head = await target.store.head()
    const message = new RegExp(`stream ${stream} of the target holds another event`)
    await refused(t, copy(source.store, target.store), TransferRefused, { message })
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
  const changes = [
    { data: Buffer.from('{"n": 1}') },
    { metadata: Buffer.from('{"m":2}') },
    { type: 'Rav' },
    { contentType: 'application/octet-stream' }
  ]
  for (const change of changes) {
    const target = await place(t)
    await appendRaw(target.store, { ...original, ...change })
    const message = /stream a of the target holds another event at revision 0/
    await refused(t, copy(source.store, target.store), TransferRefused, { message })
  }
})

t.test('the same events in another order are refused', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  const [one, other] = [event(), event()]
  await source.client.appendToStream('a', [one])
  await source.client.appendToStream('b', [other])
  await target.client.appendToStream('b', [other])
  await target.client.appendToStream('a', [one])
  const message = /stream b of the target .*in another order/
  await refused(t, copy(source.store, target.store), TransferRefused, { message })
})

t.test('streams that the source does not know are left alone and counted', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await target.client.appendToStream('theirs', [event(), event()])
  await source.client.appendToStream('ours', [event()])
  t.match(await copy(source.store, target.store), { events: 1, appended: 1, others: 2 })
  await target.client.appendToStream('theirs', [event()])
  t.match(await copy(source.store, target.store), { events: 1, appended: 0, others: 3 })
})

t.test('a stream that begins in the middle although nothing hides its earlier events is refused by its name', async (t) => {
  const target = await place(t)
  const scavenged = { ...rawEvent('old', 7n, '{}'), position: 1n }
  const [knows, limits] = [async () => 'other' as const, new Limits()]
  const source = { head: 1n, async * read () { yield scavenged }, knows, limits }
  const { signal } = new AbortController()
  const transferred = transfer(source, target.store, { inFlight: 1, signal, onProgress () {} })
  await refused(t, transferred, TransferRefused, { message: /stream old has no revision 6, and no metadata that hide it/ })
})

t.test('a stream with $maxCount or $maxAge is refused by its name, with what mends it', async (t) => {
  const [source, target] = [await place(t), await place(t)]
  await source.client.appendToStream('ours', [event(), event(), event()])
  await source.client.setStreamMetadata('ended', { maxCount: 1 })
  await source.client.tombstoneStream('ended')
  await copy(source.store, target.store)
  const head = await target.store.head()
  for (const [limit, name] of [[{ maxAge: 60 }, /ours has \$maxAge /], [{ maxCount: 2 }, /ours has \$maxCount /]] as const) {
    await source.client.setStreamMetadata('ours', limit)
    await refused(t, copy(source.store, target.store), TransferRefused, { message: name })
  }
  t.equal(await target.store.head(), head)
  await scavenge(source.server, source.client)
  const metadata = JSON.stringify({ $maxCount: 'odd' })
  await appendRaw(source.store, { ...rawEvent('$$theirs', 0n, metadata), type: '$metadata' })
  const message = /ours has .* \(1 more have .*write metadata without \$maxCount to \$\$ours; .*\$tb in its place/
  await refused(t, copy(source.store, target.store), TransferRefused, { message })

  await source.client.setStreamMetadata('theirs', {})
  await source.client.setStreamMetadata('ours', { truncateBefore: 1 })
  const empty = await place(t)
  t.match(await copy(source.store, empty.store), { others: 0 })
  t.match(await copy(source.store, target.store), { others: 0 })
  for (const { client } of [target, empty]) {
    t.same((await collect(client.readStream('ours'))).map(({ event }) => event?.revision), [1n, 2n])
  }
})

t.test('a tombstone of metadata is not carried over: it would end the nodes of the target', async (t) => {
  const { store } = await place(t)
  await refused(t, store.tombstone('$$a'), TransferRefused, { message: /\$\$a of the source is tombstoned/ })
})
