// Which events are malformed for a projection, and which only look like it.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { largestId } from '../../../src/domain/json.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import {
  assistantCreated, callCompleted, leadCreated, logOf, type Told
} from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, project, parkedEvents, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)

t.beforeEach(async () => {
  await emptyReadModels(pool)
  await pool.query('DELETE FROM ledger.skipped_events')
})
const malformed = (stream: string, type = 'AssistantUpdated'): Told => ({ stream, type, data: { nonsense: true } })

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
