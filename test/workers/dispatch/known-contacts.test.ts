// Of secondary contacts that the dispatcher knew before it kept their lead, the migration takes it from the read model.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import { callCompleted, assistantCreated, leadCreated } from '../../support/events/call-events.js'
import { dispatchRig, onlyDelivery, webhookOn } from '../../support/workers/dispatching.js'

t.test('contacts of before get their lead, also where there is no read model yet', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]))
  await r.pool.query('UPDATE ledger.dispatch_leads SET primary_id = NULL')
  const migration = await readFile(join(packageRoot, 'migrations/016_changed_leads.sql'), 'utf8')
  const backfill = migration.slice(migration.indexOf('DO $$'))
  await r.pool.query(backfill)
  await r.pool.query(`
    CREATE SCHEMA IF NOT EXISTS read_model;
    CREATE VIEW read_model.leads AS SELECT * FROM (VALUES (7::bigint, NULL::bigint), (8, 7)) known (id, primary_id)`)
  await r.pool.query(backfill)
  await r.tell(callCompleted('c-1', { lead_id: 8 }))
  t.match((await onlyDelivery(r)).data.lead, { id: 8, primary_lead_id: 7 })
})
