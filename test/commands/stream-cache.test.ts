// What is remembered of streams has a bound in bytes, and counts for nothing once the stream is another one; whole
// streams are read for one user a few at a time; and one whose metadata hides events decides nothing.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { commandHandler, streamCache } from '../../src/commands/handle.js'
import { EventLog, type Streams, noStream } from '../../src/log/event-log.js'
import { createRequest, handleOn, leadRequest, updateRequest, watched } from '../support/commands/handle-on.js'
import { sizeOf } from '../../src/log/stored.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { pastAssistants } from '../../src/commands/assistants.js'
import { eventually } from '../support/eventually.js'

const { client, connection } = await scratchEventStore(t)
const streams = new EventLog(connection)
const folded = (text: string) => ({ state: { text }, revision: 0n, stateRevision: 0n, position: 1n })

t.test('the bytes of all states together have a bound; a state that is larger, or a bound of 0, keeps nothing', (t) => {
  const cache = streamCache(10_000)
  for (const [stream, bytes] of [['a', 4_000], ['b', 4_000], ['a', 4_000], ['c', 4_000], ['d', 20_000]] as const) {
    cache.set(stream, folded('x'.repeat(bytes)))
    t.ok(cache.calculatedSize <= 10_000)
  }
  t.strictSame(['a', 'b', 'c', 'd'].map((stream) => cache.has(stream)), [true, false, true, false])
  cache.set('a', folded('x'.repeat(20_000)))
  t.strictSame([cache.has('a'), cache.has('c')], [false, true], 'nor is the smaller state that it replaces')
  const text = 'x'.repeat(10_000)
  for (const value of [[text], { a: [text] }, new Map([[text, 1]]), Buffer.alloc(10_000)]) {
    t.ok(sizeOf(value) > 10_000, 'what a state holds counts wherever it stands')
  }
  const none = streamCache(0)
  none.set('a', folded(''))
  t.equal(none.has('a'), false)
  t.end()
})

t.test('a process that may remember nothing reads a stream from its begin each time', async (t) => {
  const { observed, reads } = watched(streams)
  const handle = commandHandler(observed, 0)
  await handle(createRequest(3_000_000))
  for (const record_call of [true, false]) await handle(updateRequest(3_000_000, { record_call }))
  t.strictSame(reads, [0n, 0n])
})

const ways = { deleted: 'deleteStream', 'deleted for good': 'tombstoneStream' } as const
for (const [way, method] of Object.entries(ways)) {
  t.test(`a stream that was ${way} is not there for any process, and is not brought back`, async (t) => {
    const [remembers, another] = [handleOn(streams), handleOn(streams)]
    const id = 1_000_000 + Object.keys(ways).indexOf(way)
    await remembers(createRequest(id))
    await client[method](`assistant-${id}`)
    for (const handle of [remembers, another]) {
      await t.rejects(handle(updateRequest(id, { record_call: true })), { code: 'assistant-not-found' })
    }
  })
}

t.test('what was deleted for good cannot be created again, and says so', async (t) => {
  const contact = randomUUID()
  await handleOn(streams)(leadRequest(1, contact))
  await client.tombstoneStream(`lead-1-${contact}`)
  await t.rejects(handleOn(streams)(leadRequest(2, contact)), { name: 'StreamGone' })
})

t.test('a log that went back is noticed at the first conflict', async (t) => {
  const older = new EventLog((await scratchEventStore(t)).connection)
  let now = streams
  const restored: Streams = {
    ...streams,
    visit: (stream, from, take) => now.visit(stream, from, take),
    append: (stream, events, expected) => now.append(stream, events, expected)
  }
  const handle = commandHandler(restored)
  const id = 2_000_000
  for (const log of [older, streams]) await handleOn(log)(createRequest(id))
  for (const record_call of [true, false]) await handle(updateRequest(id, { record_call }))
  now = older
  t.equal((await handle(updateRequest(id, { filler_audios: true }))).revision, 1n)
})

const ids = Array.from({ length: 10 }, (_, index) => index + 1)
for (const id of ids) await handleOn(streams)(createRequest(id))

/** Reads that wait until they are let go. */
function held () {
  let begun = 0
  let letGo = () => {}
  const gone = new Promise<void>((resolve) => { letGo = resolve })
  const visit: Streams['visit'] = async (...args) => {
    begun += 1
    await gone
    return await streams.visit(...args)
  }
  return { streams: { ...streams, visit }, begun: () => begun, letGo }
}

t.test('three streams of a user that are not remembered are read at once, the others after them', async (t) => {
  const reads = held()
  const handle = commandHandler(reads.streams)
  const updating = ids.map((id) => handle(updateRequest(id, { record_call: true })))
  await eventually(() => reads.begun() === 3)
  const created = await handle(createRequest(1_000))
  t.equal(created.revision, 0n, 'a new stream is not read, and waits for none')
  t.equal(reads.begun(), 3)
  reads.letGo()
  await Promise.all(updating)
  t.equal(reads.begun(), ids.length)
})

t.test('so are assistants of before', async (t) => {
  const reads = held()
  const past = pastAssistants(reads.streams)
  const again = ids.map((id) => past('1', id, 0))
  await eventually(() => reads.begun() === 3)
  const other = past('2', 1, 0)
  await eventually(() => reads.begun() === 4)
  reads.letGo()
  const found = await Promise.all([...again, other])
  t.strictSame(found.map((past) => past?.revision), [...Array(10).fill(0), undefined])
})

t.test('a command on a truncated stream is refused with the name of the stream, for every process', async (t) => {
  const remembers = handleOn(streams)
  await remembers(createRequest(70))
  for (const record_call of [true, false]) await remembers(updateRequest(70, { record_call }))
  await client.setStreamMetadata('assistant-70', { maxCount: 1 })
  const refusal = { name: 'StreamTruncated', message: /assistant-70 .*\$maxCount/ }
  await t.rejects(handleOn(streams)(updateRequest(70, { record_call: true })), refusal)
  await client.setStreamMetadata('assistant-70', {})
  t.match(await remembers(updateRequest(70, { record_call: true })), { revision: 3n })
})

const half = {
  'by $tb': { metadata: { truncateBefore: 2 }, named: '$tb' },
  'whole by $tb': { metadata: { truncateBefore: 7 }, named: '$tb' },
  'by $maxCount': { metadata: { maxCount: 2 }, named: '$maxCount' }
}
for (const [index, [way, { metadata, named }]] of Object.entries(half).entries()) {
  t.test(`an assistant that was truncated ${way} is not taken for one that is missing, by its owner or others`, async (t) => {
    const id = 20 + index
    await handleOn(streams)(createRequest(id))
    for (const record_call of [true, false]) await handleOn(streams)(updateRequest(id, { record_call }))
    await client.setStreamMetadata(`assistant-${id}`, metadata)
    const refusal = {
      name: 'StreamTruncated',
      message: `the stream assistant-${id} lacks its earlier events, as its ` +
      `metadata has ${named}: take that away, and restore a backup if they were scavenged`
    }
    await t.rejects(handleOn(streams)(updateRequest(id, { record_call: true })), refusal)
    await client.setStreamMetadata(`assistant-${id}`, {})
    t.match(await handleOn(streams)(updateRequest(id, { record_call: true })), { revision: 3n })
  })
}

t.test('a stream whose events are all too old is not taken for one that is missing', async (t) => {
  const stream = `test-${randomUUID()}`
  await streams.append(stream, [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }], noStream)
  await client.setStreamMetadata(stream, { maxAge: 1 })
  const isOld = async () => await streams.read(stream).then(() => false, (error: Error) => error)
  t.match(await eventually(isOld), { name: 'StreamTruncated', message: /\$maxAge/ })
})

t.test('a stream that was deleted and written anew is none of these', async (t) => {
  const stream = `test-${randomUUID()}`
  const event = () => [{ id: randomUUID(), type: 'Happened', data: {}, metadata: {} }]
  await streams.append(stream, event(), noStream)
  await client.deleteStream(stream)
  await streams.append(stream, event(), noStream)
  let seen = 0
  t.ok(await streams.visit(stream, 0n, () => { seen += 1 }))
  t.equal(seen, 1)
})
