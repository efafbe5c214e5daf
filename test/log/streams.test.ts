// Appending to streams and reading them.
import { randomUUID } from 'node:crypto'
import { jsonEvent, type JSONType } from '@eventstore/db-client'
import t from 'tap'
import { RevisionConflict } from '../../src/log/errors.js'
import { eventId, uuidV5, toStoredEvent } from '../../src/log/stored.js'
import { noStream, EventLog } from '../../src/log/event-log.js'
import type { Proposed } from '../../src/log/connection.js'
import { scratchEventStore } from '../support/back-ends/scratch-event-store.js'

const proposed = (type = 'Happened'): Proposed => ({ id: randomUUID(), type, data: { a: 1 }, metadata: { who: 'me' } })
const name = () => `test-${randomUUID()}`
const { client, connection } = await scratchEventStore(t)
const direct = new EventLog(connection)

t.test('a stream that is not there has no events', async (t) => {
  t.strictSame(await direct.read(name()), [])
  t.strictSame(await direct.read(name(), 5n), [])
  t.equal(await direct.last(name()), undefined)
})

t.test('metadata of other writers becomes a map of texts, also a version that is a number', async (t) => {
  const stream = name()
  const metadata: JSONType[] = [
    { schema_version: 2, user_id: '1', trace: { id: 1 }, none: null }, ['schema_version'], 'text'
  ]
  await client.appendToStream(stream, [
    ...metadata.map((metadata) => jsonEvent({ type: 'Happened', data: {}, metadata })),
    jsonEvent({ type: 'Happened', data: {} })
  ])
  t.strictSame((await direct.read(stream)).map(({ metadata }) => metadata), [
    { schema_version: '2', user_id: '1', trace: '{"id":1}' }, {}, {}, {}
  ])
})

t.test('metadata that is nested too deep for JSON is replaced by a text', async (t) => {
  const metadata = { deep: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)), schema_version: '2' }
  const stored = toStoredEvent({
    id: randomUUID(),
    streamId: 's',
    revision: 0n,
    position: {
      commit: 1n, prepare: 1n
    },
    type: 'Happened',
    isJson: true,
    data: {},
    metadata,
    created: new Date()
  })
  t.strictSame(stored.metadata, { deep: 'nested too deep', schema_version: '2' })
})

t.test('events come back as they were appended, from any revision on', async (t) => {
  const stream = name()
  const events = [proposed('A'), proposed('B'), proposed('C')]
  const appended = await direct.append(stream, events, noStream)
  const read = await direct.read(stream)
  t.match(read, events.map(({ id, type, data, metadata }, index) =>
    ({ id, type, data, metadata, stream, revision: BigInt(index) })))
  t.strictSame(appended, { revision: 2n, position: read[2]?.position })
  t.equal(await direct.head(), appended.position)
  t.strictSame((await direct.read(stream, 1n)).map(({ type }) => type), ['B', 'C'])
  t.strictSame((await direct.read(stream, 1n, 1)).map(({ type }) => type), ['B'])
  t.strictSame(await direct.read(stream, 3n), [])
  t.strictSame(await direct.last(stream), read[2])
})

t.test('an append at another revision is a conflict and writes nothing', async (t) => {
  const stream = name()
  await direct.append(stream, [proposed()], noStream)
  for (const expected of [noStream, 1n]) {
    await t.rejects(direct.append(stream, [proposed()], expected), RevisionConflict)
  }
  t.equal((await direct.read(stream)).length, 1)
})

t.test('the same append again is the same answer', async (t) => {
  const [stream, events] = [name(), [proposed(), proposed()]]
  const first = await direct.append(stream, events, noStream)
  t.strictSame(await direct.append(stream, events, noStream), first)
  t.equal((await direct.read(stream)).length, 2)
})

t.test('ids of events follow from their command: UUIDs of version 5', async (t) => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  t.equal(uuidV5(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2', 'as RFC 9562, appendix A.4, has it')
  t.equal(eventId(dns, 0), eventId(dns, 0))
  t.not(eventId(dns, 0), eventId(dns, 1))
})

t.test('a connection that was closed opens nothing any more, which nobody would close', async (t) => {
  const { connection } = await scratchEventStore(t)
  const streams = new EventLog(connection)
  await streams.append(name(), [proposed()], noStream)
  await connection.close()
  const following = streams.follow({ after: 0n, eventTypes: ['Happened'], signal: new AbortController().signal })
  const asked: Array<Promise<unknown>> = [
    streams.head(), streams.read(name()), streams.append(name(), [proposed()], noStream),
    following[Symbol.asyncIterator]().next()
  ]
  for (const each of asked) await t.rejects(each, { name: 'EventStoreUnavailable' })
})
