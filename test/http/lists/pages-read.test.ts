// A further page of a list reads few pages of Postgres, however much of the tables belongs to the one who asks.
import t from 'tap'
import { findCalls } from '../../../projections/calls.js'
import { findLeads } from '../../../projections/find-leads.js'
import { ensureProjections } from '../../../projections/engine/generations.js'
import { projections } from '../../../projections/index.js'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { pagesRead, fillCalls, fillDeliveries, fillLeads } from '../../long/plans/plan.js'
import { listDeliveries } from '../../../workers/deliveries/read.js'

/** Whole tables have 400 pages and more, with a million rows 20,000. */
const mostPages = 200
const count = Number(process.env.PLAN_ROWS ?? 20_000)
const { pool } = await scratchLedger(t)
await ensureProjections(pool, projections)
for (const fill of [fillLeads, fillCalls, fillDeliveries]) await fill(pool, count)

t.test('where a page was planned for a user without leads, it looks up each of its rows once', async (t) => {
  const { pool, databaseUrl } = await scratchLedger(t)
  await ensureProjections(pool, projections)
  const session = openPool(databaseUrl, { applicationName: 'test', max: 1, onError: () => {} })
  t.teardown(() => session.end())
  const page = async () => (await findLeads(session, { userId: '7' }, { page: 1, perPage: 100 })).items.length
  const lookUps = async () => {
    await session.query('SELECT pg_stat_force_next_flush()')
    const found = await session.query<{ n: string }>("SELECT idx_scan AS n FROM pg_stat_user_indexes WHERE indexrelname = 'leads_pkey'")
    return Number(found.rows[0]?.n)
  }
  const add = (userId: string, first: number, count: number) => session.query(`
    INSERT INTO read_leads_g1.leads (id, place, user_id, campaign_id, phone_number, variables, words, called, status, stream, created_at, updated_at)
    SELECT $2 + i, 0, $1, 1, '+49', '{}', '', '', 'created', i::text, now(), now() FROM generate_series(1, $3) i`, [userId, first, count])
  await add('8', 0, 6_000)
  for (let n = 0; n < 6; n++) t.equal(await page(), 0) // Postgres keeps the plan from the sixth time on
  await add('7', 10_000, 500)
  const before = await lookUps()
  t.equal(await page(), 100)
  t.ok(await lookUps() - before <= 200)
})

const after = (id: string) => ({ after: [new Date(Date.UTC(2026, 0, 1) + count * 500).toISOString(), id], perPage: 15 })
const someDelivery = '8199a6da-f234-5f31-87e3-6f71755ff78d'

for (const userId of ['1', '7']) {
  t.test(`of user ${userId}`, async (t) => {
    const lists = {
      leads: await pagesRead(pool, (db) => findLeads(db, { userId }, after('5000'))),
      'leads of a campaign': await pagesRead(pool, (db) => findLeads(db, { userId, campaignId: 4 }, after('5000'))),
      calls: await pagesRead(pool, (db) => findCalls(db, { userId }, after('500000'))),
      'calls of an assistant': await pagesRead(pool, (db) => findCalls(db, { userId, assistantId: 4 }, after('500000'))),
      deliveries: await pagesRead(pool, (db) => listDeliveries(db, { userId }, after(someDelivery))),
      'deliveries of a status': await pagesRead(pool, (db) => listDeliveries(db, { userId, status: 'exhausted' }, after(someDelivery)))
    }
    for (const [list, pages] of Object.entries(lists)) t.ok(pages <= mostPages, `${list}: ${pages} pages`)
  })
}
