// A replay builds the same rows beside the ones that readers see.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { calls } from '../../../projections/calls.js'
import { leads } from '../../../projections/leads.js'
import { drop, replay } from '../../../projections/engine/operations.js'
import { verify } from '../../../projections/engine/replay.js'
import { estimate } from '../../../projections/engine/overview.js'
import { activeGeneration, schemaOf } from '../../../projections/engine/generations.js'
import { openIds } from '../../../src/commands/ids.js'
import { assistantCreated, leadCreated, leadUpdated } from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { rowsOf } from '../../support/projections/projected.js'
import { history, replayRig } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)
const filled = await rig.append(history(12))

t.test('a replay of an empty log swaps as well, and no id is given out of a contact that comes with an update', async (t) => {
  const empty = await replayRig(t, { postgres: rig.postgres, schema: 'empty' })
  const db = await empty.database(t)
  t.equal(await replay(leads, db.options()), 2)
  t.strictSame(await db.generations(leads), ['1 retained', '2 active'])

  const end = await empty.append([leadCreated(10, 10), leadUpdated(10, 10, [5_000], [])])
  db.project(t, leads)
  await db.reached(leads, end)
  const [id = 0] = await openIds(db.pool, async () => true).take('lead')
  t.ok(id > 5_000, `${id}`)
})

/** Its leads have one generation at the begin of each test. */
const db = await rig.database(t)
db.project(t, assistants, leads, calls)
for (const each of [assistants, leads, calls]) await db.reached(each, filled)
const active = () => activeGeneration(db.pool, leads)

t.test('rows are identical, and the live projector goes on with the new generation', async (t) => {
  const before = await rowsOf(db.pool, leads)
  t.equal(before.size, 24)
  for (const generation of [2, 3]) {
    t.equal(await replay(leads, db.options()), generation)
    t.strictSame(await rowsOf(db.pool, leads), before)
  }
  await db.reached(leads, await rig.append([leadCreated(9_000, 10)]))
  t.equal((await rowsOf(db.pool, leads)).size, 25)
  t.strictSame(await db.generations(leads), ['1 retained', '2 retained', '3 active'])
  await drop(leads, undefined, db.options())
})

t.test('a fresh database gets the same rows without a projector, and gives out no id of the log again', async (t) => {
  const fresh = await rig.database(t)
  const head = await rig.streams.head()
  for (const projection of [assistants, leads, calls]) {
    t.equal(await replay(projection, fresh.options()), 2)
    await db.reached(projection, head)
    const own = fresh.project(t, projection)
    await fresh.reached(projection, head)
    await own.stop()
    for (const { name } of projection.tables) {
      t.strictSame(await rowsOf(fresh.pool, projection, name), await rowsOf(db.pool, projection, name), name)
    }
  }
  const ids = openIds(fresh.pool, async () => true)
  for (const [kind, projection] of [['assistant', assistants], ['lead', leads]] as const) {
    const [first = 0] = await ids.take(kind)
    t.ok(first > Math.max(...[...(await rowsOf(fresh.pool, projection)).keys()].map(Number)))
  }
})

t.test('rows that differ are shown, and stop it; the operator may accept them', async (t) => {
  const present = await active()
  const next = present + 1
  const schema = schemaOf(leads, present)
  await db.pool.query(
    `UPDATE ${schema}.leads SET status = 'planted' WHERE id = 20; DELETE FROM ${schema}.leads WHERE id = 31`
  )
  await db.pool.query(`INSERT INTO ${schema}.lead_campaigns VALUES (77, 'planted')`)
  const { name, message }: Error = await replay(leads, db.options()).then(() => t.fail('swapped'), (error) => error)
  t.equal(name, 'ReplayRefused')
  t.match(message, /leads 20: status$/m)
  t.match(message, new RegExp(`leads 31: only in generation ${next}`))
  t.match(message, new RegExp(`lead_campaigns 77: only in generation ${present}`))
  t.strictSame(await db.generations(leads), [`${present} active`, `${next} building`])

  const options = db.options({ acceptDifferences: true })
  t.equal(await replay(leads, options), next)
  t.match(options.said.join('\n'), /leads 20: status \(accepted\)/)
  t.match((await rowsOf(db.pool, leads)).get(20), { status: 'created' })
  await drop(leads, undefined, db.options())
})

t.test('with changed code the rows that differ are counted, and readers are led to the new ones', async (t) => {
  const schema = schemaOf(leads, await active())
  await db.pool.query("UPDATE ledger.generations SET code_version = code_version - 1 WHERE projection = 'leads'")
  await db.pool.query(`
    UPDATE ${schema}.leads SET status = 'planted' WHERE id IN (20, 30);
    ALTER TABLE ${schema}.leads DROP COLUMN words CASCADE`)
  await t.rejects(verify(leads, db.options()), { name: 'ReplayRefused', message: /version \d+ of its code has folded/ })
  const options = db.options()
  t.equal(schemaOf(leads, await replay(leads, options)), schemaOf(leads, await active()))
  t.match(options.said.join('\n'), /The code has changed: rows of generation \d+ at position \d+, .*: 2 of \d+ rows of leads differ\.$/m)
  await drop(leads, undefined, db.options())
})

t.test('a verification leaves nothing, unless a replay has taken over what it built', async (t) => {
  const present = await active()
  const next = present + 1
  t.match(await verify(leads, db.options()), { how: /^all rows of generation \d+ at position \d+$/, differences: [] })
  await db.pool.query(`DELETE FROM ${schemaOf(leads, present)}.leads WHERE id = 31`)
  t.match(await verify(leads, db.options()), { differences: [{ table: 'leads', key: '31', found: undefined }] })
  const stopped = new AbortController()
  const onProgress = () => stopped.abort(new Error('stopped'))
  await t.rejects(verify(leads, db.options({ signal: stopped.signal, onProgress })), { message: 'stopped' })
  t.strictSame(await db.generations(leads), [`${present} active`])
  const blocker = await db.pool.connect() // holds up the build at its first row
  await blocker.query('BEGIN; LOCK TABLE ledger.skipped_events IN ACCESS EXCLUSIVE MODE')
  const frozen = t.rejects(verify(leads, db.options()))
  await eventually(async () => (await db.pool.query(
    `UPDATE ${schemaOf(leads, next)}.checkpoint SET epoch = epoch + 1 WHERE epoch > 0`)).rowCount === 1)
  await blocker.query('ROLLBACK')
  blocker.release()
  await frozen
  await t.rejects(verify(leads, db.options()), { name: 'ReplayRefused', message: /is being built: let its replay end/ })
  t.strictSame(await db.generations(leads), [`${present} active`, `${next} building`])
})

t.test('an event that readers lack is parked again, one that they have stops it with what to run', async (t) => {
  const unreadable = { stream: 'assistant-5000', type: 'AssistantCreated', data: { nonsense: true } }
  await rig.append([unreadable, unreadable])
  await db.reached(assistants, await rig.append([assistantCreated(5_001)]))
  t.match(await estimate(assistants, db.options()), { kind: 'begin', generation: 2 })
  t.equal(await replay(assistants, db.options()), 2)
  const parked = await db.pool.query(`
    SELECT consumer, stream, revision FROM ledger.parked_events WHERE consumer ^@ 'read_assistants' ORDER BY consumer, revision`)
  t.strictSame(parked.rows, [1, 2].flatMap((n) => ['0', '1'].map((revision) =>
    ({ consumer: schemaOf(assistants, n), stream: 'assistant-5000', revision }))))
  await db.pool.query('DELETE FROM ledger.parked_events WHERE revision = 0') // what they lack of the stream comes later
  await t.rejects(replay(assistants, db.options()), {
    name: 'ReplayRefused', message: /past assistant-5000@0: .*quarantine skip assistants assistant-5000 0/s
  })
  t.equal(await activeGeneration(db.pool, assistants), 2)
})
