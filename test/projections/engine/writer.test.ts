// A batch is one statement, as long as nobody else touches the generation.
import t from 'tap'
import { assistants } from '../../../projections/assistants.js'
import { leads } from '../../../projections/leads.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { Fenced, touchCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import {
  assistantCreated, assistantUpdated, leadCreated, logOf, type Told
} from '../../support/events/call-events.js'
import { eventually } from '../../support/eventually.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { watchedPool } from '../../support/postgres/statements.js'
import { emptyReadModels, feeding, rowsOf } from '../../support/projections/projected.js'

const { pool } = await scratchLedger(t)
const checkpoint = 'read_assistants_g1.checkpoint'

/** Statements that wait for another transaction. */
const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

/** Feeds batches of told events to the read model of assistants, and gives the statements of each. */
async function fed () {
  await emptyReadModels(pool, [assistants])
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

t.test('an earlier holder writes nothing', async (t) => {
  await emptyReadModels(pool, [leads])
  const placed = logOf()
  const earlier = await feeding(leads, pool, 1n)
  await earlier.batch(placed([leadCreated(1, 10)]))
  const later = await feeding(leads, pool, 2n)
  await t.rejects(earlier.batch(placed([leadCreated(2, 10)])), Fenced)
  await later.batch(placed([leadCreated(3, 10)]))
  t.strictSame([...(await rowsOf(pool, leads)).keys()], [1, 3])
})
