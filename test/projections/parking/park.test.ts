// An event that cannot be projected stops its own stream only, also where the name of the stream is longer than an
// entry of an index, or its events are many; and which events are malformed, and which only look like it.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { loadParked } from '../../../projections/engine/writer.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import {
  assistantCreated, assistantUpdated, logOf, type Told, callCompleted, leadCreated
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, rowsOf, project } from '../../support/projections/projected.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { largestId } from '../../../src/domain/json.js'
import { randomBytes } from 'node:crypto'
import { parkedEvent, parkedStreams, retryStream, skipEvent } from '../../../projections/engine/parked.js'
import { inTransaction } from '../../../src/postgres/transaction.js'

const { pool } = await scratchLedger(t)

t.beforeEach(async () => {
  await emptyReadModels(pool)
  await pool.query('DELETE FROM ledger.skipped_events')
})
const malformed = (stream: string, type = 'AssistantUpdated'): Told => ({ stream, type, data: { nonsense: true } })

t.test('an error that is not about data stops the batch and parks nothing', async (t) => {
  const feed = await feeding(assistants, pool)
  await pool.query('ALTER TABLE read_assistants_g1.assistants RENAME TO elsewhere')
  const [created] = logOf()([assistantCreated(1)])
  await t.rejects(feed.batch([created as StoredEvent]), { code: '42P01' })
  await pool.query('ALTER TABLE read_assistants_g1.elsewhere RENAME TO assistants')
  t.strictSame(await parkedEvents(pool, assistants), [])
  await feed.batch([created as StoredEvent])
  t.equal((await rowsOf(pool, assistants)).size, 1)
})

t.test('a RangeError of a single event is a bug of ours, and parks nothing', async (t) => {
  const endless = { ...assistants, project () { throw new RangeError('Maximum call stack size exceeded') } }
  await t.rejects((await feeding(endless, pool)).batch(logOf()([assistantCreated(1), assistantCreated(2)])), RangeError)
  t.strictSame(await parkedEvents(pool, assistants), [])
})

t.test('an id that is too near to 2^53 is malformed, and no sequence follows it', async (t) => {
  const given = async () => (await pool.query("SELECT ledger.given_ids('ledger.lead_ids')::text AS given")).rows[0]?.given
  await project(pool, logOf()([
    leadCreated(1, 10), leadCreated(largestId + 1, 10), leadCreated(3, 10, [Number.MAX_SAFE_INTEGER]),
    assistantCreated(largestId + 1)
  ]))
  t.strictSame((await parkedEvents(pool, leads)).map(({ stream }) => stream), [
    `lead-10-${largestId + 1}`, 'lead-10-3', `assistant-${largestId + 1}`
  ])
  t.strictSame([...(await rowsOf(pool, leads)).keys()], [1])
  t.ok(Number(await given()) < 1_000)
})

t.test('an event that is nested too deep is malformed; one that is not stays as it is', async (t) => {
  const nested = (levels: number) => JSON.parse(`{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  await project(pool, logOf()([
    callCompleted('deep', { evaluation: nested(498) }), callCompleted('deeper', { evaluation: nested(499) }),
    callCompleted('deepest', { evaluation: nested(200_000) })
  ]))
  t.strictSame([...(await rowsOf(pool, calls)).keys()], ['deep'])
  t.match(await parkedEvents(pool, calls), [
    { stream: 'call-deeper', error: 'CallCompleted at call-deeper@0: nested more than 500 levels deep' },
    { stream: 'call-deepest' }
  ])
})

t.test('a stream whose name Postgres cannot store is parked too, also when the error quotes the name', async (t) => {
  const [strange, later] = logOf()([malformed('assistant-\0'), assistantCreated(1), malformed('assistant-\0')])
  await (await feeding(assistants, pool)).batch([strange, later] as StoredEvent[])
  t.strictSame([...(await rowsOf(pool, assistants)).keys()], [1])
  t.match(await parkedEvents(pool, assistants), [{ stream: 'assistant-\\0', revision: 0 }])
})

t.test('an entry of the do-not-call list on a stream that is none is parked, whatever the name', async (t) => {
  const entry = { blacklist_id: 1, user_id: '1', phone_number: '+15551230001', reason: null, created_at: '2026-01-31T12:00:00.000Z' }
  const names = ['blacklist-a\0-b', `blacklist-${randomBytes(5_000).toString('hex')}-b`, 'blacklist-other-b']
  await project(pool, logOf()([...names.map((stream) => ({ stream, type: 'PhoneNumberBlacklisted', data: entry })), leadCreated(1, 10)]))
  t.equal((await parkedEvents(pool, leads)).length, names.length)
  t.strictSame([...(await rowsOf(pool, leads)).keys()], [1])
})

t.test('a call moves its lead, also in one batch with a parked event that would create the same lead', async (t) => {
  const stream = 'lead-10-parked'
  const log = logOf()([
    assistantCreated(1), leadCreated(1, 10), malformed(stream, 'LeadUpdated'),
    callCompleted('c-1', { lead_id: 1, status: 'completed' }), { ...leadCreated(1, 10), stream }
  ])
  for (const events of [log.slice(0, 3), log.slice(3)]) await (await feeding(leads, pool)).batch(events)
  t.match((await rowsOf(pool, leads)).get(1), { status: 'completed' })
  t.equal((await parkedEvents(pool, leads)).length, 2)
})

const longName = () => `lead-10-${randomBytes(5_000).toString('hex')}` // that no compression makes short
const [stream, other] = [longName(), longName()]

t.test('an event on a stream with a long name is parked, with the later ones, and nothing else is', async (t) => {
  const log = logOf()([
    { stream, type: 'LeadCreated', data: { nonsense: true } }, { ...leadCreated(1, 10), stream },
    { ...leadCreated(2, 10), stream: other }
  ])
  await project(pool, log)
  const parked = (await parkedEvents(pool, leads)).map((event) => [event.stream, event.revision])
  t.strictSame(parked, [[stream, 0], [stream, 1]])
  t.match(await parkedStreams(pool, ['leads']), [{ projection: 'leads', stream, events: 2 }])
  const { streams } = await inTransaction(pool, (tx) => loadParked(tx, 'read_leads_g1', 'leads', log))
  t.strictSame([...streams], [stream])
  t.equal((await parkedEvents(pool, assistants)).length, 0)

  const read = async (name: string, from = 0n) => log.filter((each) => each.stream === name && each.revision >= from)
  const visit = async (name: string, from: bigint, take: (event: StoredEvent) => void) => {
    for (const event of await read(name, from)) take(event)
    return true
  }
  const on = { pool, streams: { read, visit } }
  t.match(await parkedEvent(on, leads, stream), { revision: 0n, parked: 2 })
  await t.rejects(retryStream(on, leads, stream), { name: 'ParkingRefused' })
  t.match(await skipEvent(on, leads, stream, 0n, 'nonsense'), { events: 2, parked: 0 })
  t.strictSame(await parkedEvents(pool, leads), [])
})

t.test('a stream with many parked events is read a few events at a time', async (t) => {
  const name = 'assistant-9'
  const updates = Array.from({ length: 250 }, (_, n) => assistantUpdated(9, { assistant_name: `Name ${n}` }))
  const log = logOf()([assistantCreated(9), { stream: name, type: 'AssistantUpdated', data: { nonsense: true } }, ...updates])
  await project(pool, log)
  t.equal((await parkedEvents(pool, assistants)).length, 251)
  const counts: unknown[] = []
  const read = async (_stream: string, from = 0n, count = log.length) => {
    counts.push(count)
    return log.slice(Number(from), Number(from) + count)
  }
  t.match(await skipEvent({ pool, streams: { read } }, assistants, name, 1n, 'nonsense'), { events: 251, parked: 0 })
  t.ok(counts.every((count) => Number(count) <= 100))
  t.match((await rowsOf(pool, assistants)).get(9), { name: 'Name 249', revision: 251 })
})
