// A read model that is made beside a log: filled in bulk, seen by nobody before it is complete.
import t, { type Test } from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { activePositions, filledAt } from '../../../projections/engine/generations.js'
import { assistantUpdated, leadCreated, type Told } from '../../support/events/call-events.js'
import { parkedEvents, rowsOf } from '../../support/projections/projected.js'
import { type ReplayDatabase, history, replayRig } from '../../support/replay/replay-rig.js'

const rig = await replayRig(t)
/** So much that it is written in several pieces. */
const notes = { customer_name: '', email: '', notes: 'n'.repeat(60_000) }
const large = (told: Told): Told => ({ ...told, data: { ...told.data, variables: notes } })
const head = await rig.append([
  ...history(10), ...Array.from({ length: 90 }, (_, index) => large(leadCreated(10_000 + index, 10)))
])
const whole = await rig.database(t)
whole.project(t, assistants, leads)
await Promise.all([assistants, leads].map((each) => whole.reached(each, head)))

const isFilling = async ({ pool }: ReplayDatabase) => (await activePositions(pool, [leads]))[0]?.isFilling

async function holdsAll (t: Test, { pool }: ReplayDatabase, message: string): Promise<void> {
  for (const { name } of leads.tables) {
    t.strictSame(await rowsOf(pool, leads, name), await rowsOf(whole.pool, leads, name), `${name} ${message}`)
  }
}

t.test('it is written in few transactions, goes on where one fails, and readers see nothing of it before all of it', async (t) => {
  const writes: string[] = []
  const seen: unknown[] = []
  const db: ReplayDatabase = await rig.database(t, {
    head,
    watching: {
      async before (statement) {
        if (!/^WITH moved AS/.test(statement)) return
        writes.push(statement)
        seen.push(await db.passed(leads), await isFilling(db))
        if (writes.length === 2) throw new Error('Connection terminated')
      }
    }
  })
  t.equal(await db.passed(leads), undefined)
  db.project(t, leads)
  await db.reached(leads, head)
  t.ok(writes.length > 2 && writes.length < 25, `${writes.length} transactions for ${40 + 90} events`)
  t.strictSame(seen, writes.flatMap(() => [undefined, true]))
  t.equal(await isFilling(db), false)
  t.ok(await db.passed(leads))
  await holdsAll(t, db, 'after the fill')
})

t.test('an event that cannot be projected is parked, and the rest is there when readers see it', async (t) => {
  const poison: Told = { stream: 'assistant-3', type: 'AssistantUpdated', data: { nonsense: true } }
  await rig.append([poison, assistantUpdated(3, { assistant_name: 'Late' })])
  const end = await rig.append([assistantUpdated(4, { assistant_name: 'In time' })])
  const db = await rig.database(t, { head: end })
  const first = db.project(t, assistants)
  await db.reached(assistants, end)
  await first.stop()
  const rows = await rowsOf(db.pool, assistants)
  t.equal(rows.size, 10)
  t.match(rows.get(4), { name: 'In time' })
  t.match(await parkedEvents(db.pool, assistants), [{ stream: 'assistant-3', revision: 2 }, { stream: 'assistant-3' }])

  const later = await rig.append([assistantUpdated(3, { assistant_name: 'Later' })])
  await db.pool.query('UPDATE ledger.generations SET visible_from = $1', [later]) // broken off there
  db.project(t, assistants)
  await db.reached(assistants, later)
  t.equal((await parkedEvents(db.pool, assistants)).length, 3, 'a fill that is gone on with keeps its stream waiting')
})

t.test('beside a log that has nothing for it there is nothing to fill, whatever else the log has', async (t) => {
  const { streams, append } = await replayRig(t, { postgres: rig.postgres, schema: 'other' })
  await append([{ stream: 'another-1', type: 'SomethingElse', data: {} }])
  t.equal(await filledAt(streams, [leads, assistants]), 0n)
  const end = await append([leadCreated(1, 10)])
  t.equal(await filledAt(streams, [leads, assistants]), end)
  t.equal(await filledAt(streams, [assistants]), 0n)
})
