// What calls make of the leads that the dispatcher remembers, and so of what webhooks say of them.
import t from 'tap'
import {
  assistantCreated, callCompleted, leadCreated, leadDeleted, leadStatusChanged, leadUpdated
} from '../../support/events/call-events.js'
import { webhookOn } from './dispatching.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'

t.test('a call moves its lead or secondary contact, also when it is not sent, and a duplicate does not', async (t) => {
  const r = await dispatchRig(t)
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
  const r = await dispatchRig(t)
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
  const { rows } = await r.pool.query<{ call_id: string, body: string }>(
    'SELECT call_id, body FROM ledger.webhook_deliveries ORDER BY call_id')
  t.same(rows.map(({ call_id, body }) => [call_id, JSON.parse(body).data.lead.status]), [
    ['c-1', 'blacklisted'], ['c-2', 'rescheduled'], ['c-3', 'rescheduled'], ['c-4', 'blacklisted'],
    ['c-5', 'rescheduled'], ['c-6', 'completed']
  ])
})

t.test('what a user makes of a lead and its contacts counts from its place in the log on, also after a deletion', async (t) => {
  const r = await dispatchRig(t)
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
