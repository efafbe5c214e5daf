// What calls and the do-not-call list make of the leads that the dispatcher remembers, and so of what webhooks say.
import t from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { buildSkippedBodies } from '../../../workers/operate/skipped-bodies.js'
import {
  assistantCreated, callCompleted, leadCreated, leadDeleted, leadStatusChanged, leadUpdated
} from '../../support/events/call-events.js'
import { listed, unlisted, webhookOn } from './dispatching.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'

const { begin } = await ruleRig(t)

t.test('a call moves its lead or secondary contact, also when it is not sent, and a duplicate does not', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(assistantCreated(1), leadCreated(7, 3, [8, 9]))
  await r.tell(
    callCompleted('c-1', { lead_id: 7, status: 'busy', lead_status: 'rescheduled' }),
    callCompleted('c-2', { lead_id: 8 }),
    callCompleted('c-3', { lead_id: 9, status: 'failed' })
  )
  await r.tell(callCompleted('c-1', { lead_id: 7, lead_status: 'blacklisted' }))
  const { rows } = await r.pool.query('SELECT id, status FROM ledger.dispatch_leads ORDER BY id')
  t.same(rows.map(({ id, status }) => [id, status]), [
    ['7', 'rescheduled'], ['8', 'completed'], ['9', 'created']
  ])
})

t.test('a blacklisted lead stays so, and a report of an older call moves nothing, in this batch or a later one', async (t) => {
  const r = await dispatchRig(t, await begin())
  const ended = (minute: number) => ({ ended_at: `2026-01-31T12:0${minute}:00.000Z` })
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]))
  await r.tell(
    callCompleted('c-1', { lead_id: 7, lead_status: 'blacklisted', ...ended(5) }),
    callCompleted('c-2', { lead_id: 8, lead_status: 'rescheduled', ...ended(5) }),
    callCompleted('c-3', { lead_id: 8, lead_status: 'processing', ...ended(4) })
  )
  await r.tell(
    callCompleted('c-4', { lead_id: 7, lead_status: 'scheduled', ...ended(6) }),
    callCompleted('c-5', { lead_id: 8, ...ended(4) })
  )
  await r.tell(callCompleted('c-6', { lead_id: 8, ...ended(5) }))
  t.same(await told(r), [
    ['c-1', 'blacklisted'], ['c-2', 'rescheduled'], ['c-3', 'rescheduled'], ['c-4', 'blacklisted'],
    ['c-5', 'rescheduled'], ['c-6', 'completed']
  ])
})

t.test('what a user makes of a lead and its contacts counts from its place in the log on, also after a deletion', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn), leadCreated(7, 3, [8]),
    leadStatusChanged(7, 3, 'blacklisted'), leadStatusChanged(7, 3, 'scheduled', 8), leadUpdated(7, 3, [9, 8], [])
  )
  const leadIn = async (place: number) => JSON.parse(String((await r.deliveries())[place]?.body)).data.lead
  const known = () => r.pool.query(`
    SELECT id::int, primary_id::int, status, variables->>'customer_name' AS name, revision::int
    FROM ledger.dispatch_leads ORDER BY 1`)
  const wanted = [
    { id: 7, primary_id: null, status: 'blacklisted', name: 'Changed', revision: 3 },
    { id: 8, primary_id: 7, status: 'scheduled', name: '', revision: 3 },
    { id: 9, primary_id: 7, status: 'created', name: '', revision: 3 }
  ]
  t.same((await known()).rows, wanted)
  await r.tell(callCompleted('c-1', { lead_id: 9 }))
  t.match(await leadIn(0), { id: 9, primary_lead_id: 7, status: 'completed' })
  await r.tell(leadDeleted(7, 3), callCompleted('c-2', { lead_id: 8 }))
  t.match(await leadIn(1), { id: 8, primary_lead_id: 7, status: 'completed' })
})

const [ofLead, ofContact] = ['+15551230001', '+15551230002'] // as leadCreated gives them

/** What webhooks say, by call, in the order of the log. */
async function told (r: Awaited<ReturnType<typeof dispatchRig>>) {
  const { rows } = await r.pool.query<{ call_id: string, body: string }>(
    'SELECT call_id, body FROM ledger.webhook_deliveries ORDER BY call_id')
  return rows.map(({ call_id, body }) => [call_id, JSON.parse(body).data.lead.status])
}

t.test('from the entry on they are blacklisted, and after it what calls made of them meanwhile', async (t) => {
  const r = await dispatchRig(t, await begin())
  const callOf = (id: string, status: 'scheduled' | 'rescheduled') => callCompleted(id, { lead_id: 7, lead_status: status })
  const callOfContact = (id: string) => callCompleted(id, { lead_id: 8 })
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]), callOf('c-1', 'scheduled'))
  await r.tell(listed(ofLead), callOf('c-2', 'rescheduled'), callOfContact('c-3'))
  await r.tell(callOf('c-4', 'rescheduled'), listed(ofContact), callOfContact('c-5'))
  const stored = await r.tell(unlisted(ofLead), callOf('c-6', 'rescheduled'), callOfContact('c-7'))
  t.same(await told(r), [
    ['c-1', 'scheduled'], ['c-2', 'blacklisted'], ['c-3', 'completed'], ['c-4', 'blacklisted'], ['c-5', 'blacklisted'],
    ['c-6', 'rescheduled'], ['c-7', 'blacklisted']
  ])
  const bodyOf = async () => (await r.rows('webhook_deliveries', "call_id = 'c-7'"))[0]?.body
  const body = await bodyOf()
  await r.pool.query("UPDATE ledger.webhook_deliveries SET status = 'skipped', body = NULL WHERE call_id = 'c-7'")
  await inTransaction(r.pool, (tx) => buildSkippedBodies(tx, { read: async () => stored.slice(-1) }, ['c-7']))
  t.same(await bodyOf(), body, 'a body of what was skipped is as any other')
})

t.test('also where the entry was there before the lead, in its batch or in an earlier one, and for its user alone', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(assistantCreated(1, webhookOn), listed(ofLead), listed(ofContact, 2, 'another'))
  await r.tell(leadCreated(7, 3, [8]), callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2', { lead_id: 8 }))
  await r.tell(leadUpdated(7, 3, [8, 9], []), callCompleted('c-3', { lead_id: 9 }), listed(ofContact, 3))
  await r.tell(callCompleted('c-4', { lead_id: 9 }))
  t.same(await told(r), [
    ['c-1', 'blacklisted'], ['c-2', 'completed'], ['c-3', 'completed'], ['c-4', 'blacklisted']
  ])
})
