// Generations: made once, taken over from databases that had none, and named when other code has folded them.
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import pg from 'pg'
import { ensureProjections, generationsOf, leaseOf, outdated, schemaOf } from '../../../projections/replay/generations.js'
import { leads } from '../../../projections/leads.js'
import { assistants } from '../../../projections/assistants.js'
import { pointReaders } from '../../../projections/replay/views.js'
import { packageRoot } from '../../../src/package-root.js'
import { migrate } from '../../../src/postgres/migrate.js'
import { openPool } from '../../../src/postgres/pool.js'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { scratchLedger } from '../../support/ledger.js'
import { everyProjection } from '../../support/projected.js'

const { postgres, pool } = await scratchLedger(t)

t.test('making sure that projections are there is safe from many processes at once', async (t) => {
  await Promise.all(Array.from({ length: 5 }, () => ensureProjections(pool, everyProjection)))
  t.equal((await pool.query('SELECT FROM read_model.leads')).rowCount, 0)
  t.match(await generationsOf(pool, leads), [{ generation: 1, state: 'active', codeVersion: leads.version, verified: null }])
})

t.test('whoever drops the rows gets them built anew', async (t) => {
  await pool.query(`DROP SCHEMA ${schemaOf(leads, 1)} CASCADE`)
  await ensureProjections(pool, everyProjection)
  t.equal((await pool.query('SELECT FROM read_model.leads')).rowCount, 0)
})

t.test('a read model that other code has folded is named with what to run', async (t) => {
  t.strictSame(await outdated(pool, everyProjection), [])
  const newer = { ...leads, version: leads.version + 1 }
  t.strictSame(await outdated(pool, [assistants, newer]), [
    { name: 'leads', foldedBy: leads.version, version: newer.version, mend: 'ringledger projections replay leads' }
  ])
})

t.test('a view keeps the columns that a generation does not have', async (t) => {
  await pool.query('CREATE OR REPLACE VIEW read_model.lead_campaigns AS SELECT campaign_id, name, 7::integer AS extra FROM read_leads_g1.lead_campaigns')
  await pool.query("INSERT INTO read_leads_g1.lead_campaigns VALUES (1, 'Spring')")
  await inTransaction(pool, (tx) => pointReaders(tx, leads, schemaOf(leads, 1)))
  t.strictSame((await pool.query('SELECT * FROM read_model.lead_campaigns')).rows, [{ campaign_id: '1', name: 'Spring', extra: null }])
})

t.test('a database from before generations keeps its active one, with its version and its epochs', async (t) => {
  const url = Object.assign(new URL(postgres.url), { pathname: '/before' }).href
  await pool.query('CREATE DATABASE before')
  const root = t.testdir()
  mkdirSync(join(root, 'migrations'))
  for (const file of readdirSync(join(packageRoot, 'migrations'))) if (file < '030') cpSync(join(packageRoot, 'migrations', file), join(root, 'migrations', file))
  await migrate(url, root)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`
    INSERT INTO ledger.projections VALUES ('leads', 4), ('assistants', 1);
    INSERT INTO ledger.leases VALUES ('projection leads', 57, 'old', 'infinity'), ('dispatcher', 3, 'old', 'infinity');
    CREATE SCHEMA read_leads_g4;
    COMMENT ON SCHEMA read_leads_g4 IS 'Ringledger projection leads, code version 1: rebuildable from the log'`)
  await client.end()

  await migrate(url, packageRoot)
  const migrated = openPool(url, { applicationName: 'test', onError: () => {} })
  t.teardown(() => migrated.end())
  t.match(await generationsOf(migrated, leads), [{ generation: 4, state: 'active', codeVersion: 1 }])
  t.match(await generationsOf(migrated, assistants), [{ generation: 1, state: 'active', codeVersion: 0 }])
  const { rows } = await migrated.query('SELECT name, epoch FROM ledger.leases ORDER BY name')
  t.strictSame(rows, [{ name: 'dispatcher', epoch: '3' }, { name: leaseOf(leads, 4), epoch: '57' }])
})
