// The dispatcher writes a batch in one statement, as long as nobody else touches what it knows; however the log is cut
// into batches, its tables and deliveries come out the same.
import { callStream } from '../../../src/features/calls/events.js'
import { leadStream, leadStatuses } from '../../../src/features/leads/events.js'
import {
  assistantCreated, assistantUpdated, at, call, callCompleted, campaign, leadCreated,
  leadDeleted, leadStatusChanged, leadUpdated, tell, webhookTo, type Told, logOf
} from '../../support/events/call-events.js'
import { fc } from '../../support/fuzz/property.js'
import { listed, unlisted } from './dispatching.js'
import t from 'tap'
import { dispatcherCheckpoint } from '../../../src/recovery/same-log.js'
import { Fenced, readCheckpoint } from '../../../src/subscriptions/checkpoint.js'
import { dispatcher } from '../../../workers/dispatch/dispatch.js'
import type { DispatcherOptions } from '../../../workers/dispatch/effects.js'
import { commitEvents } from '../../support/events/appender.js'
import { keepingLog, scratchLedger } from '../../support/postgres/ledger.js'
import { watchedPool } from '../../support/postgres/statements.js'
import { startOver } from '../../support/workers/sender-rig.js'
import { runs } from '@ringledger/embedded-postgres/testing'

const someone = fc.constantFrom(1, 2)
const lead = fc.constantFrom(1, 2, 3, 4)
const contactsOf = (id: number) => [id * 10 + 1, id * 10 + 2]
const userOf = (id: number) => id === 4 ? '2' : '1'
const person = lead.chain((id) => fc.constantFrom(id, ...contactsOf(id), id))
const url = (nth: number) => `https://hooks.example.com/${nth}`

const updated = fc.record({ id: someone, on: fc.boolean(), nth: someone }).map(({ id, on, nth }) =>
  assistantUpdated(id, { is_webhook_active: on, webhook_url: url(nth) }))
const chosen = fc.record({ id: someone, every: fc.boolean() }).map(({ id, every }) =>
  assistantUpdated(id, { send_webhook_only_on_completed: every, assistant_name: `Desk ${id}` }))
const renamed = fc.tuple(someone, fc.constantFrom('Spring', 'Fall \ud800')).map((of) => campaign('CampaignRenamed', ...of))
const listing = fc.tuple(fc.constantFrom(listed, unlisted), fc.constantFrom('+15551230001', '+15551230002'))
  .map(([event, number]) => event(number))
const called = fc.record({
  n: fc.nat(9),
  assistant_id: fc.constantFrom(1, 1, 2, 9),
  lead_id: fc.option(person),
  minute: fc.nat(9),
  lead_status: fc.option(fc.constantFrom(...leadStatuses), { nil: undefined })
}).map(({ n, minute, lead_status, ...given }) => callCompleted(`c-${n}`, {
  ...given,
  ...lead_status && { lead_status },
  status: n % 2 ? 'completed' : 'busy',
  ended_at: `2026-01-31T12:0${minute}:00.000Z`
}))
const created = fc.tuple(lead, fc.boolean()).map(([id, hasContacts]) =>
  leadCreated(id, 1, hasContacts ? contactsOf(id) : [], userOf(id)))
const changed = fc.tuple(lead, fc.constantFrom(undefined, 0, 1)).map(([id, from]) =>
  leadUpdated(id, 1, from === undefined ? undefined : contactsOf(id).slice(from), [], userOf(id)))
const moved = fc.tuple(lead, fc.constantFrom(...leadStatuses), fc.boolean()).map(([id, status, isContact]) =>
  leadStatusChanged(id, 1, status, isContact ? contactsOf(id)[0] : null, userOf(id)))
const deleted = lead.map((id) => leadDeleted(id, 1, userOf(id)))
const erased = fc.tuple(lead, fc.boolean()).map(([lead_id, with_lead]) => {
  const contact_ids = contactsOf(lead_id).slice(with_lead ? 0 : 1)
  const data = { lead_id, user_id: userOf(lead_id), campaign_id: 1, with_lead, contact_ids, erased_at: at }
  return tell(leadStream(1, String(lead_id)), { type: 'LeadErased', data })
})
const callErased = fc.record({ n: fc.nat(9), lead_id: fc.option(person) }).map(({ n, lead_id }) => {
  const { call_id, assistant_id, status, direction, started_at, ended_at, duration } = call(`c-${n}`)
  return tell(callStream(call_id), {
    type: 'CallErased',
    data: { call_id, assistant_id, lead_id, status, direction, started_at, ended_at, duration, erased_at: at }
  })
})
const malformed = fc.constantFrom<Told>(
  { stream: 'call-c-3', type: 'CallCompleted', data: { nonsense: true } },
  { stream: 'lead-1-3', type: 'LeadUpdated', data: { nonsense: true } },
  { ...campaign('CampaignRenamed', 2, 'Later'), metadata: { schema_version: '9' } })

const event = fc.oneof(
  updated, chosen, renamed, listing, created, changed, moved, deleted, erased, callErased, malformed,
  { weight: 8, arbitrary: called })

const known = [
  ...[1, 2].map((id) => assistantCreated(id, webhookTo(url(id)))),
  ...[1, 2].map((id) => campaign('CampaignCreated', id, 'First')), leadCreated(1, 1, contactsOf(1)), leadCreated(2, 1)
]

const history = fc.array(fc.array(event, { minLength: 1, maxLength: 6 }), { maxLength: 12 })
  .map((batches) => [known, ...batches])

const { pool } = await scratchLedger(t)
const webhook = webhookTo('https://hooks.example.com/calls')

const options = { firstDelayMs: 0, wake () {}, log: keepingLog() }

/** Feeds batches of told events, and gives the statements of each; an assistant, a lead and a campaign are known. */
async function fed (more: Partial<DispatcherOptions> = {}) {
  await startOver(pool)
  let sent: string[] = []
  const watched = watchedPool(pool, { before: (statement) => sent.push(statement) })
  const consumer = await dispatcher({ ...options, ...more, pool: watched }).open()
  const place = logOf()
  const batch = async (...told: Told[]) => {
    sent = []
    await commitEvents(consumer, place(told), watched)
    return sent.filter((statement) => !statement.startsWith('SELECT position FROM')) // where a batch begins
  }
  await batch(assistantCreated(1, webhook), campaign('CampaignCreated', 3, 'Spring'), leadCreated(7, 3))
  await batch(callCompleted('first', { lead_id: 7 }))
  await batch(callCompleted('second', { lead_id: 7 })) // looks at the checkpoint again
  return { batch, consumer, place }
}

const deliveries = async () => (await pool.query<{ call_id: string, status: string, duplicates: number }>(
  'SELECT call_id, status, duplicates FROM ledger.webhook_deliveries ORDER BY position')).rows

t.test('calls of what is known or new are one statement', async (t) => {
  const { batch } = await fed()
  const statements = await batch(callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2'))
  t.equal(statements.length, 1, statements.join('\n'))
  t.match(statements[0], /^WITH held AS MATERIALIZED .* due_added AS .* SELECT moved\.version, due\.id FROM moved/)
  const more = await batch(leadCreated(9, 3), callCompleted('c-3', { lead_id: 9 }))
  t.equal(more.length, 1, more.join('\n'))
  t.match(await deliveries(), ['first', 'second', 'c-1', 'c-2', 'c-3'].map((call_id) => ({ call_id, status: 'scheduled' })))
})

t.test('an assistant with a due delivery is woken after the commit, unless its webhook is off or suspended', async (t) => {
  const woken: string[][] = []
  const { batch } = await fed({ wake: (assistants) => { woken.push([...assistants]) } })
  woken.length = 0
  await batch(callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2'))
  await pool.query("UPDATE ledger.webhooks SET suspended_at = now(), suspended_reason = 'gone'")
  await batch(callCompleted('c-3'))
  await batch(assistantUpdated(1, { is_webhook_active: false }))
  await batch(callCompleted('c-4'))
  await batch(assistantUpdated(1, { is_webhook_active: true }))
  t.strictSame(woken, [['1'], [], [], [], ['1']])
})

t.test('a former holder writes nothing', async (t) => {
  const { batch, consumer, place } = await fed()
  await batch(callCompleted('c-1'))
  const before = await deliveries()
  const from = await readCheckpoint(pool, dispatcherCheckpoint)
  const late = { events: place([callCompleted('c-2')]), position: from + 10n }
  await t.rejects(consumer.write(late, from - 1n, 0n), Fenced)
  await t.rejects(consumer.write(late, from, 5n), Fenced)
  t.strictSame(await deliveries(), before)
  t.equal(await readCheckpoint(pool, dispatcherCheckpoint), from)
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
