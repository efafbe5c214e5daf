// Which events are malformed for a projection, and which only look like it.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { largestId } from '../../../src/domain/json.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import {
  assistantCreated, assistantUpdated, callCompleted, leadCreated, logOf, type Told
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, project, parkedEvents, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)

t.beforeEach(async () => {
  await emptyReadModels(pool)
  await pool.query('DELETE FROM ledger.skipped_events')
})
const malformed = (stream: string, type = 'AssistantUpdated'): Told => ({ stream, type, data: { nonsense: true } })

t.test('an event in a version that only a later release knows is parked, and never read as an older one', async (t) => {
  const inVersion = (version: string) => ({ metadata: { schema_version: version } })
  await project(pool, logOf()([
    assistantCreated(1), { ...assistantUpdated(1, { assistant_name: 'Later' }), ...inVersion('2') },
    { ...callCompleted('c'), ...inVersion('3') }
  ]))
  t.match((await rowsOf(pool, assistants)).get(1), { name: 'Front desk', revision: 0 })
  t.match(await parkedEvents(pool, assistants), [{
    stream: 'assistant-1',
    revision: 1,
    error: 'AssistantUpdated at assistant-1@1: schema_version 2 is not known to this release; its latest is 1'
  }])
  for (const projection of [leads, calls]) {
    t.match(await parkedEvents(pool, projection), [{ stream: 'call-c', revision: 0 }])
  }
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

t.test('an event on another aggregate’s stream changes nothing of it', async (t) => {
  const log = logOf()([
    assistantCreated(1), { ...assistantCreated(1, {}, '2'), stream: 'assistant-2' }, callCompleted('a'),
    { ...callCompleted('a', { duration: 1 }), stream: 'call-b' }
  ])
  await project(pool, log)
  t.match((await rowsOf(pool, assistants)).get(1), { user_id: '1' })
  t.match((await rowsOf(pool, calls)).get('a'), { report: { duration: 60 } })
  t.equal((await rowsOf(pool, calls)).size, 1)
})

t.test('a stream whose name Postgres cannot store is parked too, also when the error quotes the name', async (t) => {
  const [strange, later] = logOf()([malformed('assistant-\0'), assistantCreated(1), malformed('assistant-\0')])
  await (await feeding(assistants, pool)).batch([strange, later] as StoredEvent[])
  t.strictSame([...(await rowsOf(pool, assistants)).keys()], [1])
  t.match(await parkedEvents(pool, assistants), [{ stream: 'assistant-\\0', revision: 0 }])
})
