// An event that cannot be projected stops its own stream only, also where the name of the stream is longer than an
// entry of an index, or its events are many; and which events are malformed, and which only look like it.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import {
  assistantCreated, logOf, type Told, callCompleted, leadCreated
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, rowsOf, project } from '../../support/projections/projected.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { largestId } from '../../../src/domain/json.js'
import { randomBytes } from 'node:crypto'
import { parkedStreams, skipEvent } from '../../../projections/engine/parked.js'

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
  t.equal((await parkedEvents(pool, assistants)).length, 0)
  const read = async () => log.slice(0, 2)
  t.match(await skipEvent({ pool, streams: { read } }, leads, stream, 0n, 'nonsense'), { events: 2, parked: 0 })
  t.strictSame(await parkedEvents(pool, leads), [])
})
