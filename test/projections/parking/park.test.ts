// An event that cannot be projected stops its own stream only.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { catalog } from '../../../projections/catalog.js'
import { leads } from '../../../projections/leads.js'
import { loadSkipped } from '../../../projections/engine/writer.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { assistantCreated, assistantUpdated, leadCreated, logOf, type Told } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, project, parkedEvents, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)

t.beforeEach(async () => {
  await emptyReadModels(pool)
  await pool.query('DELETE FROM ledger.skipped_events')
})
const malformed = (stream: string, type = 'AssistantUpdated'): Told => ({ stream, type, data: { nonsense: true } })
const earlier = 'an earlier event of this stream is parked'

t.test('a malformed event is parked with the later events of its stream, and other streams go on', async (t) => {
  const log = logOf()([
    assistantCreated(1), assistantCreated(2), malformed('assistant-1'),
    assistantUpdated(1, { assistant_name: 'Late' }), assistantUpdated(2, { assistant_name: 'In time' })
  ])
  await (await feeding(assistants, pool)).batch(log)
  const rows = await rowsOf(pool, assistants)
  t.match(rows.get(1), { name: 'Front desk', revision: 0 })
  t.match(rows.get(2), { name: 'In time', revision: 1 })
  t.match(await parkedEvents(pool, assistants), [
    { stream: 'assistant-1', revision: 1, error: /^AssistantUpdated at assistant-1@1: / },
    { stream: 'assistant-1', revision: 2, error: earlier }
  ])
})

t.test('it stays so after a restart', async (t) => {
  const place = logOf()
  await (await feeding(assistants, pool)).batch(place([assistantCreated(1), malformed('assistant-1')]))
  await (await feeding(assistants, pool, 2n))
    .batch(place([assistantUpdated(1, { assistant_name: 'Late' }), assistantCreated(2)]))
  t.strictSame([...(await rowsOf(pool, assistants)).values()].map(({ name }) => name), ['Front desk', 'Front desk'])
  t.strictSame((await parkedEvents(pool, assistants)).map(({ error }) => error).slice(1), [earlier])
})

t.test('what Postgres refuses all the same is parked, alone of its batch', async (t) => {
  await pool.query('ALTER TABLE read_assistants_g1.assistants ADD CHECK (name <> \'refused\')')
  const log = logOf()([
    assistantCreated(1), assistantCreated(2), assistantUpdated(2, { assistant_name: 'refused' }),
    assistantUpdated(1, { assistant_name: 'In time' }), malformed('assistant-3'), assistantCreated(4)
  ])
  await (await feeding(assistants, pool)).batch(log)
  t.strictSame([...(await rowsOf(pool, assistants)).values()].map(({ name }) => name), [
    'In time', 'Front desk', 'Front desk'
  ])
  t.match(await parkedEvents(pool, assistants), [
    { stream: 'assistant-2', revision: 1, error: /violates check constraint/ }, { stream: 'assistant-3', revision: 0 }
  ])
})

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

t.test('a lead id of another stream is parked and overwrites nothing, also as a secondary contact', async (t) => {
  const other = (id: number, secondary: number[]): Told =>
    ({ ...leadCreated(id, 10, secondary), stream: `lead-10-other-${id}` })
  const log = logOf()([leadCreated(1, 10, [2]), other(1, []), other(2, []), other(3, [1]), other(4, [])])
  await (await feeding(leads, pool)).batch(log)
  t.strictSame([...(await rowsOf(pool, leads)).entries()].map(([id, { stream }]) => [id, stream]), [
    [1, 'lead-10-1'], [2, 'lead-10-1'], [4, 'lead-10-other-4']
  ])
  t.strictSame(
    (await parkedEvents(pool, leads)).map(({ error }) => error),
    [1, 2, 1].map((id) => `lead id ${id} already belongs to lead-10-1`)
  )
})

t.test('what is parked is kept for each projection by itself', async (t) => {
  await project(pool, logOf()([malformed('call-x', 'CallCompleted'), assistantCreated(1)]))
  t.strictSame(await parkedEvents(pool, assistants), [])
  t.strictSame(await parkedEvents(pool, catalog), [])
  for (const projection of [leads, calls]) {
    t.match(await parkedEvents(pool, projection), [{ stream: 'call-x', revision: 0 }])
  }
})

t.test('a RangeError of a single event is a bug of ours, and parks nothing', async (t) => {
  const endless = { ...assistants, project () { throw new RangeError('Maximum call stack size exceeded') } }
  await t.rejects((await feeding(endless, pool)).batch(logOf()([assistantCreated(1), assistantCreated(2)])), RangeError)
  t.strictSame(await parkedEvents(pool, assistants), [])
})

t.test('a skipped event is passed over, and the rest of its stream goes on', async (t) => {
  const log = logOf()([
    assistantCreated(1), malformed('assistant-1'), assistantUpdated(1, { assistant_name: 'In time' }),
    malformed('assistant-1')
  ])
  await pool.query(`
    INSERT INTO ledger.skipped_events (projection, stream, revision, reason)
    VALUES ('assistants', 'assistant-1', 1, 'nonsense')`)
  await (await feeding(assistants, pool)).batch(log)
  t.match((await rowsOf(pool, assistants)).get(1), { name: 'In time', revision: 2 })
  t.match(await parkedEvents(pool, assistants), [{ stream: 'assistant-1', revision: 3 }])
  const skips = await loadSkipped(pool, 'assistants')
  t.strictSame(log.map((event) => skips.has(event)), [false, true, false, false])
  t.equal((await loadSkipped(pool, 'leads')).has({ stream: 'assistant-1', revision: 1n }), false)
})
