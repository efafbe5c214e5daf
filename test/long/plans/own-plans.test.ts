// No list of what users have few of reads a whole table either, however much of it belongs to the one who asks.
import t from 'tap'
import { findAssistants } from '../../../projections/assistants.js'
import { findBlacklist } from '../../../projections/blacklist.js'
import { findCampaigns, findPhoneNumbers } from '../../../projections/catalog.js'
import { ensureProjections } from '../../../projections/engine/generations.js'
import { projections } from '../../../projections/index.js'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { listFilters } from './list-filters.js'
import { leastOf, planOf, fillAssistants, fillOwn } from './plan.js'

const count = 1_000_000
const { pool, databaseUrl } = await scratchLedger(t)
const ofOne = openPool(databaseUrl, { applicationName: 'plans', max: 1, onError: () => {} })
t.teardown(() => ofOne.end())
await ensureProjections(pool, projections)
await fillAssistants(pool, count)
await fillOwn(pool, count)

const inTheMiddle = new Date(Date.UTC(2026, 0, 1) + count * 500).toISOString()
const end = new Date(Date.UTC(2026, 0, 1) + count * 1000).toISOString()
const { campaignFilters, numberFilters } = listFilters('2026-01-01T00:00:00.000Z', end)
const first = { page: 1, perPage: 15 }
const last = { page: Math.floor(count / 45), perPage: 15 }

for (const [table, find, filters, keys] of [
  ['assistants', findAssistants, { 'no filter': {} }, [inTheMiddle, '5000']],
  ['campaigns', findCampaigns, campaignFilters, ['5000']],
  ['phone_numbers', findPhoneNumbers, numberFilters, ['5000']],
  ['blacklist', findBlacklist, numberFilters, ['5000']]
] as const) {
  for (const userId of ['1', '7']) {
    t.test(`${table} of user ${userId}`, async (t) => {
      for (const [name, filter] of Object.entries(filters)) {
        for (const page of [first, last, { after: keys, perPage: 15 }]) {
          const nodes = await planOf(pool, (db) => find(db, { userId, ...filter }, page))
          t.ok(nodes.some((node) => node.endsWith(` on ${table}`)), `${name}: ${nodes.join(', ')}`)
          t.notOk(nodes.includes(`Seq Scan on ${table}`), `${name}: ${nodes.join(', ')}`)
          if (page === last) continue // skips a third of a million rows
          const ms = await leastOf(ofOne, () => find(ofOne, { userId, ...filter }, page))
          t.ok(ms < 20, `${name}, ${'page' in page ? 'first' : 'next'} page: ${ms} ms of CPU`)
        }
      }
    })

    t.test(`${table} of user ${userId} are counted by an index alone`, async (t) => {
      const nodes = await planOf(pool, (db) => find(db, { userId }, first))
      const ofIndexes = nodes.filter((node) => node === `Index Only Scan on ${table}`)
      t.equal(ofIndexes.length, 4, `the keys of the page and their count, in both plans: ${nodes.join(', ')}`)
    })
  }
}
