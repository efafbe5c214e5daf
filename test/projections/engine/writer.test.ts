// A batch is one statement, as long as nobody else touches the generation.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { catalog } from '../../../projections/catalog.js'
import { leads } from '../../../projections/leads.js'
import { catalogStreams } from '../../../src/features/catalog/events.js'
import { phoneNumberStream } from '../../../src/features/phone-numbers/events.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { Fenced, touchCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import {
  assistantCreated, assistantUpdated, campaign, leadCreated, logOf, tell, type Told
} from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { watchedPool } from '../../support/postgres/statements.js'
import { emptyReadModels, feeding, parkedEvents, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)
const checkpoint = 'read_assistants_g1.checkpoint'

/** Statements that wait for another transaction. */
const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

/** Feeds batches of told events to the read model of assistants, and gives the statements of each. */
async function fed () {
  await emptyReadModels(pool)
  let sent: string[] = []
  const feed = await feeding(assistants, watchedPool(pool, { before: (statement) => sent.push(statement) }))
  const placed = logOf()
  const batch = async (...told: Told[]) => {
    sent = []
    await feed.batch(placed(told))
    return sent
  }
  await batch(assistantCreated(1)) // looks what is set apart
  return { batch, nameOf: async (id: number) => (await rowsOf(pool, assistants)).get(id)?.name }
}

const renamed = (id: number, assistant_name: string) => assistantUpdated(id, { assistant_name })

t.test('a row that was written is not read again: a batch is one statement', async (t) => {
  const { batch, nameOf } = await fed()
  const statements = await batch(renamed(1, 'second'))
  t.equal(statements.length, 1, statements.join('\n'))
  t.match(statements[0], /^WITH moved AS \( UPDATE read_assistants_g1.checkpoint .*pg_notify/)
  t.equal(await nameOf(1), 'second')
})

t.test('a batch of new things is one statement too: they are not looked for', async (t) => {
  const { batch } = await fed()
  await batch(assistantCreated(2)) // ids below the next block are known to be given out
  const statements = await batch(assistantCreated(3), assistantCreated(4))
  t.equal(statements.length, 1, statements.join('\n'))
  t.equal((await rowsOf(pool, assistants)).size, 4)
})

t.test('what is created, and is there already, is looked up after all', async (t) => {
  await emptyReadModels(pool)
  const placed = logOf()
  const first = await feeding(leads, pool, 1n)
  await first.batch(placed([leadCreated(1, 10)]))
  const later = await feeding(leads, pool, 2n)
  await later.batch(placed([leadCreated(1, 11), leadCreated(2, 10)]))
  t.match(await parkedEvents(pool, leads), [{ error: 'lead id 1 already belongs to lead-10-1' }])
  const rows = await rowsOf(pool, leads)
  t.match([...rows.values()], [{ id: 1, campaign_id: 10 }, { id: 2, campaign_id: 10 }])
})

t.test('what another transaction changed beside the checkpoint is seen', async (t) => {
  const { batch } = await fed()
  await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, checkpoint)
    await tx.query("UPDATE read_assistants_g1.assistants SET user_id = 'other' WHERE id = 1")
  })
  await batch(renamed(1, 'third'))
  t.match((await rowsOf(pool, assistants)).get(1), { name: 'third', user_id: 'other' })
})

t.test('a batch that waited for another transaction is written with what that left', async (t) => {
  const { batch } = await fed()
  let waiting: Promise<unknown> | undefined
  await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, checkpoint)
    waiting = batch(renamed(1, 'fourth'))
    await eventually(async () => (await pool.query(waits)).rowCount === 1)
    await tx.query("UPDATE read_assistants_g1.assistants SET user_id = 'late' WHERE id = 1")
  })
  await waiting
  t.match((await rowsOf(pool, assistants)).get(1), { name: 'fourth', user_id: 'late' })
})

t.test('a malformed event is parked in the statement of its batch, and a second one looks what has to wait', async (t) => {
  const { batch, nameOf } = await fed()
  const bad: Told = { stream: 'assistant-1', type: 'AssistantUpdated', data: { nonsense: true } }
  t.match((await batch(bad)).at(-1), /^WITH moved AS .*INSERT INTO ledger.parked_events/)
  t.equal((await batch(renamed(1, 'waits'), assistantCreated(2))).length, 2, 'what is parked, and the batch')
  t.strictSame((await parkedEvents(pool, assistants)).map(({ revision }) => revision), [1, 2])
  t.equal((await batch(renamed(2, 'goes on'))).length, 2)
  t.equal(await nameOf(2), 'goes on')
})

t.test('what Postgres refuses is parked alone, whatever comes with it', async (t) => {
  const { batch } = await fed()
  await pool.query("ALTER TABLE read_assistants_g1.assistants ADD CHECK (name <> 'refused')")
  await batch(assistantCreated(2), renamed(2, 'first'), renamed(1, 'refused'), assistantCreated(3))
  await batch(renamed(1, 'waits'))
  t.match(await parkedEvents(pool, assistants), [
    { stream: 'assistant-1', revision: 1, error: /violates check constraint/ },
    { stream: 'assistant-1', revision: 2, error: 'an earlier event of this stream is parked' }
  ])
  t.match([...(await rowsOf(pool, assistants)).values()], [{ id: 1 }, { id: 2, name: 'first' }, { id: 3 }])
})

t.test('of a row that changes twice in a batch the last version is written', async (t) => {
  const { batch, nameOf } = await fed()
  t.equal((await batch(renamed(1, 'one'), renamed(1, 'two'))).length, 1)
  t.equal(await nameOf(1), 'two')
})

t.test('an earlier holder writes nothing', async (t) => {
  await emptyReadModels(pool)
  const placed = logOf()
  const earlier = await feeding(leads, pool, 1n)
  await earlier.batch(placed([leadCreated(1, 10)]))
  const later = await feeding(leads, pool, 2n)
  await t.rejects(earlier.batch(placed([leadCreated(2, 10)])), Fenced)
  await later.batch(placed([leadCreated(3, 10)]))
  t.strictSame([...(await rowsOf(pool, leads)).keys()], [1, 3])
})

t.test('a statement that writes many tables has a name that Postgres keeps whole', async (t) => {
  await emptyReadModels(pool)
  const voice = tell(catalogStreams.voices, { type: 'VoiceAdded', data: { id: 1, name: 'Amelia' } })
  const language = tell(catalogStreams.languages, { type: 'LanguageAdded', data: { name: 'English' } })
  const number = { phone_number_id: 1, user_id: '1', phone_number: '+15551230001' }
  const owned = tell(phoneNumberStream(1), { type: 'PhoneNumberAdded', data: number })
  const feed = await feeding(catalog, pool)
  await feed.batch(logOf()([voice, language, campaign('CampaignCreated', 1, 'Spring'), owned]))
  const sessions = Array.from({ length: pool.totalCount }, () => pool.query('SELECT name FROM pg_prepared_statements'))
  const names = (await Promise.all(sessions)).flatMap(({ rows }) => rows.map(({ name }: { name: string }) => name))
  t.ok(names.some((name) => name.startsWith('write-read_catalog_g1')), names.join())
  t.notOk(names.some((name) => name.length >= 63), names.join())
})
