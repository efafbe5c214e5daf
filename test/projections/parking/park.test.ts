// An event that cannot be projected stops its own stream only.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { loadSkipped } from '../../../projections/engine/writer.js'
import type { StoredEvent } from '../../../src/domain/stored-event.js'
import { assistantCreated, assistantUpdated, logOf, type Told } from '../../support/events/call-events.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, rowsOf } from '../../support/projections/projected.js'

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
