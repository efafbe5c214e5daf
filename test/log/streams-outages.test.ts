// Appending through a network that loses things: what stands is known, and stands once.
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import { AppendOutcomeUnknown, EventStoreUnavailable, RevisionConflict } from '../../src/log/errors.js'
import { noStream, EventLog, type EventLogOptions } from '../../src/log/event-log.js'
import type { Proposed } from '../../src/log/connection.js'
import { eventually } from '../support/eventually.js'
import { connectionTo, scratchEventStore } from '../support/back-ends/scratch-event-store.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'

const proposed = (type = 'Happened'): Proposed => ({ id: randomUUID(), type, data: { a: 1 }, metadata: { who: 'me' } })
const name = () => `test-${randomUUID()}`
const { store, connection, postgres } = await scratchEventStore(t)
const direct = new EventLog(connection)

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

t.test('that one append was not written says nothing of those that wait beside it', async (t) => {
  const sql = new pg.Client({ connectionString: postgres.url })
  await sql.connect()
  t.teardown(() => sql.end())
  await sql.query('BEGIN; LOCK TABLE eventstore.events IN SHARE MODE')
  const [refused, written] = [name(), name()]
  const refusal = t.rejects(direct.append(refused, [proposed()], noStream), EventStoreUnavailable)
  const cancel = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()`
  await eventually(async () => (await sql.query(cancel.replace('pg_cancel_backend(pid)', 'pid'))).rowCount === 1)
  const waiting = direct.append(written, [proposed()], noStream)
  await direct.head() // an answer to what was sent after it: it has arrived
  await sql.query(cancel)
  await refusal
  await sql.query('COMMIT')
  t.match(await waiting, { revision: 0n })
  t.equal((await direct.read(refused)).length, 0)
})

t.test('it is found although somebody wrote after it', async (t) => {
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
  const { proxy, streams } = await behindProxy(t, { answerWithinMs: 2_000, resolveWithinMs: 2_200 })
  proxy.freeze()
  const beganAt = performance.now()
  await t.rejects(streams.append(name(), [proposed()], noStream), AppendOutcomeUnknown)
  const ms = performance.now() - beganAt
  t.ok(ms < 5_700, `after ${ms.toFixed()} ms: the last try has no more time than is left`)
})

t.test('a read that is not answered is given up in bounded time', async (t) => {
  const { proxy, streams } = await behindProxy(t, { answerWithinMs: 1_000 })
  proxy.freeze()
  await t.rejects(streams.read(name()), EventStoreUnavailable)
  await t.rejects(streams.head(), EventStoreUnavailable)
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
