// Appending to streams and reading them, also through a network that loses things: each append is known, and stands
// once.
import { randomUUID } from 'node:crypto'
import { jsonEvent, type JSONType } from '@eventstore/db-client'
import pg from 'pg'
import t, { type Test } from 'tap'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../../src/log/errors.js'
import { eventId, uuidV5, toStoredEvent } from '../../src/log/stored.js'
import { noStream, EventLog, type EventLogOptions } from '../../src/log/event-log.js'
import type { Proposed } from '../../src/log/connection.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { eventually } from '../support/eventually.js'
import { collect } from '@ringledger/embedded-event-store/testing'
import { event } from '@ringledger/event-transfer/testing'

const proposed = (type = 'Happened'): Proposed => ({ id: randomUUID(), type, data: { a: 1 }, metadata: { who: 'me' } })
const name = () => `test-${randomUUID()}`
const { client, store, connection, postgres } = await scratchEventStore(t)
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

t.test('ids of events follow from their command: UUIDs of version 5', async (t) => {
  const dns = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'
  t.equal(uuidV5(dns, 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2', 'as RFC 9562, appendix A.4, has it')
  t.equal(eventId(dns, 0), eventId(dns, 0))
  t.not(eventId(dns, 0), eventId(dns, 1))
})

/** Streams of a client behind a proxy, whose connection is up. */
async function behindProxy (t: Test, options: EventLogOptions = {}) {
  const proxy = await tcpProxy(t, store.port)
  const connection = connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false`)
  await new EventLog(connection).append(name(), [proposed()], noStream) // a slow machine may need longer than `options`
  return { proxy, streams: new EventLog(connection, { quietAfterMs: Infinity, ...options }) }
}

t.test('an append whose acknowledgement is lost is followed up, and stands once', async (t) => {
  const { proxy, streams } = await behindProxy(t)
  const [stream, events] = [name(), [proposed(), proposed()]]
  proxy.loseAnswers()
  const appending = streams.append(stream, events, noStream)
  await eventually(async () => (await direct.read(stream)).length === 2)
  proxy.cut()
  const read = await direct.read(stream)
  t.strictSame(await appending, { revision: 1n, position: read[1]?.position })
  t.strictSame((await direct.read(stream)).map(({ id }) => id), events.map(({ id }) => id))
})

t.test('an append whose answer was lost is found although somebody wrote after it', async (t) => {
  const { proxy, streams } = await behindProxy(t)
  const [stream, event] = [name(), proposed()]
  proxy.loseAnswers()
  const appending = streams.append(stream, [event], noStream)
  await eventually(() => direct.append(stream, [proposed()], 0n))
  proxy.cut()
  t.match(await appending, { revision: 0n })
  t.equal((await direct.read(stream)).length, 2)
})

t.test('an append that was lost on the way out is sent again', async (t) => {
  const { proxy, streams } = await behindProxy(t)
  const [stream, event] = [name(), proposed()]
  proxy.freeze()
  const appending = streams.append(stream, [event], noStream)
  await eventually(async () => {
    await direct.head()
    proxy.cut()
  })
  t.match(await appending, { revision: 0n })
  t.strictSame((await direct.read(stream)).map(({ id }) => id), [event.id])
})

t.test('an append that met another one while its answer was lost is a conflict', async (t) => {
  const { proxy, streams } = await behindProxy(t)
  const [stream, theirs] = [name(), proposed()]
  proxy.freeze()
  const appending = streams.append(stream, [proposed()], noStream)
  await direct.append(stream, [theirs], noStream)
  proxy.cut()
  await t.rejects(appending, RevisionConflict)
  t.strictSame((await direct.read(stream)).map(({ id }) => id), [theirs.id])
})

t.test('when the store stays away after a request, the outcome is unknown and never called unwritten', async (t) => {
  const { proxy, streams } = await behindProxy(t, { resolveWithinMs: 400 })
  const stream = name()
  proxy.loseAnswers()
  const appending = streams.append(stream, [proposed()], noStream)
  appending.catch(() => {}) // expected below
  await eventually(async () => (await direct.read(stream)).length === 1)
  await proxy.close()
  await t.rejects(appending, AppendOutcomeUnknown)
})

t.test('a store that hangs is given up in bounded time', async (t) => {
  const { proxy, streams } = await behindProxy(t, { answerWithinMs: 1_000, resolveWithinMs: 1_200 })
  proxy.freeze()
  const beganAt = performance.now()
  await t.rejects(streams.append(name(), [proposed()], noStream), AppendOutcomeUnknown)
  const ms = performance.now() - beganAt
  t.ok(ms < 4_700, `after ${ms.toFixed()} ms: the last try has no more time than is left`)
  await t.rejects(streams.read(name()), EventStoreUnavailable)
})

t.test('after a silence an append asks first: to a store that hangs it is never sent', async (t) => {
  const { proxy, streams } = await behindProxy(t, { answerWithinMs: 1_000, quietAfterMs: -1 })
  const stream = name()
  proxy.freeze()
  await t.rejects(streams.append(stream, [proposed()], noStream), EventStoreUnavailable)
  t.strictSame(await direct.read(stream), [])
})

t.test('a store that is not there was not written to', async (t) => {
  const proxy = await tcpProxy(t, store.port)
  await proxy.close()
  const streams = new EventLog(connectionTo(t, `esdb://127.0.0.1:${proxy.port}?tls=false&maxDiscoverAttempts=1`))
  await t.rejects(streams.append(name(), [proposed()], noStream), EventStoreUnavailable)
  await t.rejects(streams.read(name()), EventStoreUnavailable)
  await t.rejects(streams.head(), EventStoreUnavailable)
})

t.test('the embedded store removes what was hidden before, also when it is asked twice at once', async (t) => {
  const isLeft = async (id: string) => (await collect(client.readAll())).some(({ event }) => event?.id === id)
  const hidden = async () => {
    const [stream, first] = [randomUUID(), event()]
    await client.appendToStream(stream, [first, event()])
    await client.setStreamMetadata(stream, { truncateBefore: 1 })
    return first.id
  }
  const [one, other] = await Promise.all([1, 2].map(async () => {
    const id = await hidden()
    const scavenged = await direct.scavenge()
    t.notOk(await isLeft(id))
    return scavenged
  }))
  t.equal((one?.events ?? 0) + (other?.events ?? 0), 2)
  t.ok((one?.bytes ?? 0) + (other?.bytes ?? 0) > 0)
  t.match(await direct.scavenge(), { events: 0 })

  const sql = new pg.Client({ connectionString: postgres.url })
  await sql.connect()
  t.teardown(() => sql.end())
  await sql.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN new; END';
    CREATE TRIGGER slow BEFORE INSERT ON eventstore.events FOR EACH ROW WHEN (new.type = '$>') EXECUTE FUNCTION slow()`)
  const started = async () => (await collect(client.readAll())).filter(({ event }) => event?.type === '$scavengeStarted')
  const before = (await started()).length
  const running = direct.scavenge()
  await eventually(async () => (await started()).length > before)
  const late = await hidden()
  await direct.scavenge()
  t.notOk(await isLeft(late), 'nor is it taken for done while one that has passed it is still named')
  await running
})

t.test('a log is read from the middle of a stream, and followed from where nothing is left', async (t) => {
  const { position } = await client.appendToStream('call-a', [event('CallCompleted'), event('CallErased')])
  const { position: end } = await client.appendToStream('call-b', [event('CallCompleted')])
  await client.setStreamMetadata('call-a', { truncateBefore: 1 })
  await direct.scavenge()
  t.same((await direct.read('call-a')).map(({ revision, type }) => [revision, type]), [[1n, 'CallErased']])

  const seen: string[] = []
  const stopping = new AbortController()
  const after = (position?.commit ?? 0n) - 1n
  const eventTypes = ['CallCompleted', 'CallErased']
  for await (const batch of direct.follow({ after, eventTypes, signal: stopping.signal })) {
    seen.push(...batch.events.map(({ stream, type }) => `${stream} ${type}`))
    if (batch.position >= (end?.commit ?? 0n)) break
  }
  stopping.abort()
  t.same(seen, ['call-a CallErased', 'call-b CallCompleted'])
})

t.test('on another server nothing is begun', async (t) => {
  const count = async () => (await collect(client.readAll())).filter(({ event }) => event?.type === '$scavengeStarted').length
  const before = await count()
  await client.tombstoneStream('$embedded-event-store') // what only an embedded log has
  t.equal(await direct.scavenge(), undefined)
  t.equal(await count(), before)
})
