// However the log is cut into batches, tables and deliveries of the dispatcher come out the same; workers are woken.
import t from 'tap'
import { runs } from '@ringledger/embedded-postgres/testing'
import { callStream } from '../../../src/features/calls/events.js'
import { leadStream } from '../../../src/features/leads/events.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import { leadsAndCalls } from '../../projections/engine/histories.js'
import { commitEvents } from '../../support/events/appender.js'
import {
  assistantCreated, assistantUpdated, at, call, callCompleted, campaign, leadCreated, logOf, tell, webhookTo, type Told
} from '../../support/events/call-events.js'
import { fc } from '../../support/fuzz/property.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { startOver } from '../../support/workers/sender-rig.js'
import { listed, unlisted } from './dispatching.js'

const someone = fc.constantFrom(1, 2)
const lead = fc.constantFrom(10, 20, 30)
const url = (nth: number) => `https://hooks.example.com/${nth}`

const updated = fc.record({ id: someone, on: fc.boolean(), nth: someone }).map(({ id, on, nth }) =>
  assistantUpdated(id, { is_webhook_active: on, webhook_url: url(nth) }))
const chosen = fc.record({ id: someone, every: fc.boolean() }).map(({ id, every }) =>
  assistantUpdated(id, { send_webhook_only_on_completed: every, assistant_name: `Desk ${id}` }))
const renamed = fc.constantFrom('Spring', 'Fall \ud800').map((name) => campaign('CampaignRenamed', 10, name))
const listing = fc.tuple(fc.constantFrom(listed, unlisted), fc.constantFrom('+15551230001', '+15551230002'))
  .map(([event, number]) => event(number))
const erased = fc.tuple(lead, fc.boolean()).map(([lead_id, with_lead]) => {
  const contact_ids = with_lead ? [lead_id + 1, lead_id + 2] : [lead_id + 2]
  const data = { lead_id, user_id: '1', campaign_id: 10, with_lead, contact_ids, erased_at: at }
  return tell(leadStream(10, String(lead_id)), { type: 'LeadErased', data })
})
const callErased = fc.record({ n: fc.nat(6), lead_id: fc.option(lead) }).map(({ n, lead_id }) => {
  const { call_id, assistant_id, status, direction, started_at, ended_at, duration } = call(`c${n}`)
  return tell(callStream(call_id), {
    type: 'CallErased',
    data: { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration, erased_at: at }
  })
})
const ofLaterRelease = fc.constant<Told>({ ...campaign('CampaignRenamed', 10, 'Later'), metadata: { schema_version: '9' } })

const event = fc.oneof(
  ...[updated, chosen, renamed, listing, erased, callErased, ofLaterRelease]
    .map((arbitrary) => ({ weight: 2, arbitrary })),
  ...leadsAndCalls)

const known = [
  ...[1, 2].map((id) => assistantCreated(id, webhookTo(url(id)))), campaign('CampaignCreated', 10, 'First'),
  leadCreated(10, 10, [11, 12]), leadCreated(20, 10)
]

const history = fc.array(fc.array(event, { minLength: 1, maxLength: 6 }), { maxLength: 12 })
  .map((batches) => [known, ...batches])

const { pool } = await scratchLedger(t)
t.test('an assistant with a due delivery is woken after the commit, unless its webhook is off or suspended', async (t) => {
  await startOver(pool)
  const woken: string[][] = []
  const wake = (assistants: Iterable<string>) => { woken.push([...assistants]) }
  const consumer = await dispatcher({ pool, firstDelayMs: 0, wake, log: keepingLog() }).open()
  const place = logOf()
  const batch = (...told: Told[]) => commitEvents(consumer, place(told), pool)
  await batch(assistantCreated(1, webhookTo(url(1))))
  await batch(callCompleted('c-1'), callCompleted('c-2'))
  await pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone'")
  await batch(callCompleted('c-3'))
  await batch(assistantUpdated(1, { is_webhook_active: false }))
  await batch(callCompleted('c-4'))
  await batch(assistantUpdated(1, { is_webhook_active: true }))
  t.strictSame(woken, [[], ['1'], [], [], [], ['1']])
})

/** The rows of all tables after these batches. */
async function outcome (batches: Told[][]): Promise<unknown> {
  await startOver(pool)
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
  }), { numRuns: runs(5) })
})
