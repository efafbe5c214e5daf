// However the log is cut into batches, the dispatcher's tables and deliveries come out the same.
import t from 'tap'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import type { Told } from '../../support/events/call-events.js'
import { logOf } from '../../support/events/call-events.js'
import { emptyDispatchState } from './dispatching.js'
import { history } from './histories.js'
import { commitEvents } from '../../support/events/appender.js'
import { fc } from '../../support/fuzz/property.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)

/** What stands in all tables after these batches. */
async function outcome (batches: Told[][]): Promise<unknown> {
  await emptyDispatchState(pool)
  const consumer = await dispatcher({ pool, firstDelayMs: 0, wake () {}, log: keepingLog() }).open()
  const place = logOf()
  for (const told of batches) await commitEvents(consumer, place(told), pool)
  const { rows } = await pool.query(`
    SELECT (SELECT json_agg(a ORDER BY assistant_id) FROM ledger.dispatch_assistants a) AS assistants,
           (SELECT json_agg(l ORDER BY id) FROM ledger.dispatch_leads l) AS leads,
           (SELECT json_agg(c ORDER BY campaign_id) FROM ledger.dispatch_campaigns c) AS campaigns,
           (SELECT json_agg(b ORDER BY key) FROM ledger.dispatch_blacklist b) AS blacklist,
           (SELECT json_agg(json_build_array(
              call_id, status, d.reason, duplicates, last_position, body, url, erased_at IS NOT NULL) ORDER BY position)
            FROM ledger.webhook_deliveries d LEFT JOIN ledger.webhooks w USING (assistant_id)) AS deliveries,
           (SELECT json_agg(json_build_array(stream, revision, error) ORDER BY position)
            FROM ledger.parked_events) AS parked`)
  return rows
}

t.test('batches of any size are as good as events one by one', async (t) => {
  await fc.assert(fc.asyncProperty(history, async (batches) => {
    t.strictSame(await outcome(batches), await outcome(batches.flat().map((event) => [event])))
  }), { numRuns: 30 })
})
