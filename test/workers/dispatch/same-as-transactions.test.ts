// Whatever batches come, writing them at once leaves what transactions would leave.
import t from 'tap'
import type { OpenConsumer } from '../../../src/subscriptions/consumer.js'
import { dispatcher, writeInTransaction } from '../../../workers/dispatch/dispatch.js'
import {
  assistantCreated, assistantUpdated, callCompleted, campaign, leadCreated, logOf, webhookTo, type Told
} from '../../support/events/call-events.js'
import { listed, unlisted, emptyDispatchState } from './dispatching.js'
import { commitEvents } from '../../support/events/appender.js'
import { fc } from '../../support/fuzz/property.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'

const { pool } = await scratchLedger(t)
const webhook = webhookTo('https://hooks.example.com/calls')
const options = { firstDelayMs: 0, onDispatched: () => {}, log: keepingLog() }

const someone = fc.constantFrom(1, 2)
const updated = fc.record({ id: someone, on: fc.boolean(), at: someone }).map(({ id, on, at }) =>
  assistantUpdated(id, { is_webhook_active: on, webhook_url: `https://hooks.example.com/${at}` }))
const renamed = fc.tuple(someone, fc.constantFrom('Spring', 'Fall')).map((of) => campaign('CampaignRenamed', ...of))
const listing = fc.tuple(fc.constantFrom(listed, unlisted), fc.constantFrom('+15551230001', '+15551230002'))
  .map(([event, number]) => event(number))
const called = fc.record({ n: fc.nat(6), assistant_id: someone, lead_id: fc.constantFrom(null, 1, 2, 3) })
  .map(({ n, ...given }) => callCompleted(`c-${n}`, { ...given, status: n % 2 ? 'completed' : 'busy' }))
const created = fc.record({ id: fc.constantFrom(2, 3, 10, 11), contacts: fc.subarray([12, 13]) })
  .map(({ id, contacts }) => leadCreated(id, 1, contacts))
const event = fc.oneof(updated, renamed, listing, created, { weight: 4, arbitrary: called })
const known = [
  ...[1, 2].map((id) => assistantCreated(id, webhook)),
  ...[1, 2].map((id) => campaign('CampaignCreated', id, 'First')), leadCreated(1, 1, [3]), leadCreated(2, 2)
]

/** What stands in all tables after these batches; `atOnce` or each in a transaction. */
async function outcome (batches: Told[][], atOnce: boolean): Promise<unknown> {
  await emptyDispatchState(pool)
  const all = { ...options, pool }
  const opened = await dispatcher(all).open()
  const write: OpenConsumer['write'] = async (...batch) => { await writeInTransaction(...batch, all) }
  const place = logOf()
  for (const told of [known, ...batches]) {
    await commitEvents(atOnce ? opened : { ...opened, write }, place(told), pool)
  }
  const { rows } = await pool.query(`
    SELECT (SELECT json_agg(a ORDER BY 1) FROM ledger.dispatch_assistants a) AS assistants,
           (SELECT json_agg(l ORDER BY contact_id) FROM ledger.dispatch_leads l) AS leads,
           (SELECT json_agg(c ORDER BY 1) FROM ledger.dispatch_campaigns c) AS campaigns,
           (SELECT json_agg(b ORDER BY phone_number) FROM ledger.dispatch_blacklist b) AS blacklist,
           (SELECT json_agg(json_build_array(call_id, status, d.reason, duplicates, body, url) ORDER BY position)
            FROM ledger.webhook_deliveries d LEFT JOIN ledger.webhook_endpoints e ON e.id = endpoint_id) AS deliveries`)
  return rows
}

t.test('the tables are as if every batch had been a transaction', async (t) => {
  const batches = fc.array(fc.array(event, { minLength: 1, maxLength: 3 }), { maxLength: 12 })
  await fc.assert(fc.asyncProperty(batches, async (told) => {
    t.strictSame(await outcome(told, true), await outcome(told, false))
  }), { numRuns: 40 })
})
