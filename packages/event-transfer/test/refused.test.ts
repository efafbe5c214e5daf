// A transfer refuses a target that holds something else, and leaves other streams alone.
import { collect, refused } from '@ringledger/embedded-event-store/testing'
import t from 'tap'
import { TransferRefused } from '../src/failure.js'
import type { Recorded } from '../src/recorded.js'
import { sourceOf, type Source } from '../src/source.js'
import { appendRaw, event, rawEvent } from './support/varied-log.js'
import { transfer } from '../src/transfer.js'
import { copy, placesOn } from './support/place.js'

const place = await placesOn(t)
/** Each test has streams of its own there. */
const target = await place(t)

/** A log with these events. */
async function logWith (...events: Recorded[]): Promise<Source> {
  const log = events.map((event, index) => ({ ...event, position: BigInt(index + 1) }))
  return await sourceOf({
    head: BigInt(log.length),
    async * read (after) { yield * log.filter(({ position }) => position > after) },
    async knows ({ stream, revision, id }) {
      const own = log.filter((each) => each.stream === stream)
      if (own.length === 0) return 'stream unknown'
      return own.some((each) => each.revision === revision && each.id === id) ? 'same' : 'other'
    }
  })
}

const taken = (source: Source) =>
  transfer(source, target.store, { inFlight: 16, signal: new AbortController().signal, onProgress () {} })
const happened = (stream: string, count: number) =>
  Array.from({ length: count }, (_, n) => rawEvent(stream, BigInt(n), '{}'))

t.test('other events in a stream of the source are refused by its name, and nothing is written', async (t) => {
  for (const [stream, count] of [['lead-1', 1], ['lead-2', 3], ['assistant-1', 1]] as const) {
    const source = await logWith(...happened('before', 1), ...happened(stream, stream === 'assistant-1' ? 1 : 2))
    await target.client.appendToStream(stream, Array.from({ length: count }, () => event()))
    const head = await target.store.head()
    const message = new RegExp(`stream ${stream} of the target holds another event`)
    await refused(t, taken(source), TransferRefused, { message })
    t.equal(await target.store.head(), head)
  }

  const source = await logWith(...happened('lead-7', 2))
  await taken(source)
  await target.client.appendToStream('lead-7', [event()])
  await refused(t, taken(source), TransferRefused, { message: /stream lead-7 .* at revision 2/ })
})

t.test('an event with the same id and anything else changed is refused', async (t) => {
  const changes = [
    { data: Buffer.from('{"n": 1}') },
    { type: 'Rav' },
    { contentType: 'application/octet-stream' }
  ]
  for (const [n, change] of changes.entries()) {
    const original = rawEvent(`changed-${n}`, 0n, '{"n":1}', '{"m":1}')
    await appendRaw(target.store, { ...original, ...change })
    const message = new RegExp(`stream changed-${n} of the target holds another event at revision 0`)
    await refused(t, taken(await logWith(original)), TransferRefused, { message })
  }
})

t.test('the same events in another order are refused', async (t) => {
  const [one, other] = [...happened('a', 1), ...happened('b', 1)] as [Recorded, Recorded]
  await appendRaw(target.store, other, one)
  await refused(t, taken(await logWith(one, other)), TransferRefused, { message: /stream b of the target .*in another order/ })
})

t.test('streams that the source does not know are left alone and counted', async (t) => {
  const { others: before } = await taken(await logWith())
  await target.client.appendToStream('theirs', [event(), event()])
  const source = await logWith(...happened('ours', 1))
  t.match(await taken(source), { events: 1, appended: 1, others: before + 2 })
  await target.client.appendToStream('theirs', [event()])
  t.match(await taken(source), { events: 1, appended: 0, others: before + 3 })
})

t.test('a stream that begins in the middle although nothing hides its earlier events is refused by its name', async (t) => {
  const message = /stream old has no revision 6, and no metadata that hide it/
  await refused(t, taken(await logWith(rawEvent('old', 7n, '{}'))), TransferRefused, { message })
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
  await source.client.setStreamMetadata('ours', { truncateBefore: 1 })
  t.match(await copy(source.store, target.store), { others: 0 })
  t.same((await collect(target.client.readStream('ours'))).map(({ event }) => event?.revision), [1n, 2n])
})

t.test('a tombstone of metadata is not carried over: it would end the nodes of the target', async (t) => {
  await refused(t, target.store.tombstone('$$a'), TransferRefused, { message: /\$\$a of the source is tombstoned/ })
})
