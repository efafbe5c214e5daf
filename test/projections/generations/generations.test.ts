// Generations: made once, and named when other code has folded them.
import t from 'tap'
import {
  createGeneration, ensureProjections, generationsOf, outdated, removeGeneration, schemaOf, activePositions,
  pointReaders
} from '../../../projections/engine/generations.js'
import { overview, ownedGenerations } from '../../../projections/engine/overview.js'
import { leads } from '../../../projections/leads.js'
import { assistants } from '../../../projections/assistants.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { scratchLedger } from '../../support/postgres/ledger.js'
import { projections } from '../../../projections/index.js'

const { pool } = await scratchLedger(t)

t.test('making sure that projections are there is safe from many processes at once', async (t) => {
  await Promise.all(Array.from({ length: 5 }, () => ensureProjections(pool, projections)))
  t.equal((await pool.query('SELECT FROM read_model.leads')).rowCount, 0)
  t.match(await generationsOf(pool, leads), [{
    generation: 1, state: 'active', codeVersion: leads.version, verified: null, visibleFrom: '0'
  }])
})

t.test('tables whose schema was dropped are made again, to be filled from the log before readers see them', async (t) => {
  await pool.query(`DROP SCHEMA ${schemaOf(leads, 1)} CASCADE`)
  await ensureProjections(pool, projections, async () => 100n)
  const filling = (await activePositions(pool, projections)).filter(({ isFilling }) => isFilling)
  t.match(filling, [{ name: 'leads' }])
  t.equal((await pool.query('SELECT FROM read_model.leads')).rowCount, 0)
})

t.test('generations whose schemas were lost are forgotten, but for the one that readers see', async (t) => {
  for (const [generation, state] of [[2, 'retained'], [3, 'retained'], [4, 'building']] as const) {
    await inTransaction(pool, (tx) => createGeneration(tx, leads, generation, state))
    await pool.query(`
      INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
      VALUES ($1, 'lead-1', 0, 0, 'LeadCreated', 'malformed')`, [schemaOf(leads, generation)])
  }
  await pool.query('DROP SCHEMA read_leads_g1 CASCADE; DROP SCHEMA read_leads_g2 CASCADE; DROP SCHEMA read_leads_g4 CASCADE')
  await ensureProjections(pool, projections)
  const found = await overview(leads, await ownedGenerations(leads, pool), pool, 0n)
  t.match(found, [{ generation: 1, state: 'active' }, { generation: 3, state: 'retained' }])
  t.equal(found.length, 2)
  t.match((await pool.query('SELECT consumer FROM ledger.parked_events')).rows, [{ consumer: 'read_leads_g3' }])
  await inTransaction(pool, (tx) => removeGeneration(tx, leads, 3))
})

t.test('a read model that other code has folded is named with what to run', async (t) => {
  t.strictSame(await outdated(pool, projections), [])
  const newer = { ...leads, version: leads.version + 1 }
  t.strictSame(await outdated(pool, [assistants, newer]), [
    { name: 'leads', foldedBy: leads.version, version: newer.version, mend: 'ringledger projections replay leads' }
  ])
})

t.test('a view keeps the columns that a generation does not have', async (t) => {
  await pool.query(`
    CREATE OR REPLACE VIEW read_model.lead_campaigns AS
    SELECT *, 7::integer AS extra FROM read_leads_g1.lead_campaigns`)
  await pool.query("INSERT INTO read_leads_g1.lead_campaigns VALUES (1, 'Spring', '1')")
  await inTransaction(pool, (tx) => pointReaders(tx, leads, schemaOf(leads, 1)))
  t.strictSame((await pool.query('SELECT * FROM read_model.lead_campaigns')).rows, [{
    campaign_id: '1', name: 'Spring', user_id: '1', renamed_at: null, extra: null
  }])
})
