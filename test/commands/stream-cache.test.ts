// What is remembered of streams has a bound in bytes, and counts for nothing once the stream is another one.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { commandHandler, streamCache } from '../../src/commands/handle.js'
import { EventLog, type Streams } from '../../src/log/event-log.js'
import { createRequest, handleOn, leadRequest, updateRequest, watched } from '../support/commands/handle-on.js'
import { sizeOf } from '../../src/log/stored.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

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
  await handle(createRequest(1))
  for (const record_call of [true, false]) await handle(updateRequest(1, { record_call }))
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
