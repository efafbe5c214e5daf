// Whatever stands in the source stands in the target: the same bytes, in the same order, once.
import { StreamDeletedError, StreamNotFoundError } from '@eventstore/db-client'
import { collect, refused } from '@ringledger/embedded-event-store/testing'
import t from 'tap'
import type { Store } from '../src/store.js'
import { appendRaw, event, fillVaried, rawEvent, written } from './support/varied-log.js'
import { logOf } from '../src/source.js'
import { isSameLog, transfer } from '../src/transfer.js'
import { copy, opened, placesOn } from './support/place.js'

const place = await placesOn(t)
const varied = { source: await place(t), target: await place(t) }
const [source, target] = [await place(t), await place(t)]
let known = 0

/** Copies what is new. @returns by how many events the log has grown, and how many were appended */
async function copyOn () {
  const { events, appended } = await copy(source.store, target.store)
  const more = events - known
  known = events
  return { more, appended }
}

t.test('ids, types, bytes, metadata, revisions and order are kept, deletions and truncation too', async (t) => {
  const { source, target } = varied
  await fillVaried(source.client, source.store)
  const copied = await copy(source.store, target.store)
  t.same(await written(target.store), await written(source.store))
  t.match(copied, { events: 22, streams: 13, appended: 22, others: 0 })
  t.equal(copied.position.target, await target.store.head())

  for (const stream of ['assistant-1', 'Straße 🎧', 'truncated', 'recreated', 'links']) {
    const visible = async ({ client }: typeof source) => {
      const read = await collect(client.readStream(stream))
      return read.map(({ event }) => [event?.id, event?.revision])
    }
    t.same(await visible(target), await visible(source), `${stream} shows the same`)
  }
  await refused(t, collect(target.client.readStream('gone')), StreamNotFoundError)
  await refused(t, collect(target.client.readStream('tombstoned')), StreamDeletedError)
  await refused(t, collect(target.client.readStream('$mine')), StreamNotFoundError)
  t.match((await target.client.getStreamMetadata('assistant-1')).metadata, { owner: 'me' })
})

t.test('a repeat appends nothing, a later one only what is new, and the hash is that of the log', async (t) => {
  const { source, target } = varied
  const other = await place(t)
  const first = await copy(source.store, target.store)
  const head = await target.store.head()
  t.match(await copy(source.store, target.store), { events: first.events, appended: 0, sha256: first.sha256 })
  t.equal(await target.store.head(), head)

  await source.client.appendToStream('assistant-1', [event()])
  await source.client.appendToStream('gone', [event('Back')])
  const tail = await copy(source.store, target.store)
  t.match(tail, { events: first.events + 1, appended: 3 }, 'with the metadata that brought the stream back; two are hidden now')
  t.not(tail.sha256, first.sha256)
  const copied = await copy(target.store, other.store)
  t.match(copied, { events: tail.events, sha256: tail.sha256 }, 'a copy of the copy has it as well')
})

t.test('two copiers at once double nothing', async (t) => {
  await Promise.all(Array.from({ length: 20 }, async (_, index) => {
    await source.client.appendToStream(`lead-${index}`, [event(), event(), event()])
  }))
  const [one, other] = await Promise.all([
    copy(source.store, target.store, { inFlight: 16 }),
    copy(source.store, opened(t, target.url), { inFlight: 3 })
  ])
  t.equal(one.sha256, other.sha256)
  t.equal(one.events, known + 20 * 3)
  known = one.events
  t.same(await written(target.store), await written(source.store))
})

t.test('metadata that servers ignore, as one value is invalid, hide nothing', async (t) => {
  await source.client.appendToStream('ours', [event(), event(), event()])
  await appendRaw(source.store, { ...rawEvent('$$ours', 0n, '{"$tb":2,"$acl":{"$r":[1]}}'), type: '$metadata' })
  t.match(await copyOn(), { more: 4 })
  t.equal((await collect(target.client.readStream('ours'))).length, 3)
})

t.test('an event that is appended to the source meanwhile is left for the next copy', async (t) => {
  await source.client.appendToStream('a', [event()])
  const log = await logOf(source.store)
  await source.client.appendToStream('a', [event()])
  const { signal } = new AbortController()
  t.match(await transfer(log, target.store, { inFlight: 1, signal, onProgress () {} }), { events: known + 1 })
  t.match(await copyOn(), { more: 2, appended: 1 })
})

t.test('a log is recognised whatever its address', async (t) => {
  t.ok(await isSameLog(source.store, opened(t, source.url.replace('127.0.0.1', 'localhost'))))
  t.notOk(await isSameLog(source.store, target.store))
})

t.test('metadata that a server wrote when it brought a stream back is the same when it says the same', async (t) => {
  await source.client.appendToStream('brought-back', [event()])
  const deletion = rawEvent('$$brought-back', 0n, '{ "$tb": 9223372036854775807, "odd": [12345678901234567890] }')
  await appendRaw(source.store, { ...deletion, type: '$metadata' })
  await source.client.appendToStream('brought-back', [event('Again')])
  t.match(await copyOn(), { more: 2 })
  const metadataIn = async (store: Store) => (await written(store)).filter((line) => line.includes('$metadata'))
  t.same(await metadataIn(target.store), await metadataIn(source.store))
})

t.test('metadata of a deleted stream bring it back in the target as they did in the source', async (t) => {
  await source.client.appendToStream('emptied', [event()])
  for (const colour of ['red', 'blue']) {
    await source.client.deleteStream('emptied')
    await source.client.setStreamMetadata('emptied', { colour })
  }
  await source.client.appendToStream('emptied', [event('Again')])
  t.match(await copyOn(), { more: 2, appended: 2 })
  t.match(await copyOn(), { more: 0, appended: 0 })
  const metadataOf = async ({ client }: typeof source) => (await client.getStreamMetadata('emptied')).metadata
  t.same(await metadataOf(target), await metadataOf(source))
  t.same((await collect(target.client.readStream('emptied'))).map(({ event }) => event?.type), ['Again'])
})
