// What the dispatcher remembers of assistants, leads and campaigns, also in a database that was restored.
import t from 'tap'
import {
  assistantCreated, assistantUpdated, callCompleted, campaign, leadCreated, logOf
} from '../../support/events/call-events.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'
import { onlyDelivery, tables, webhookOn } from './dispatching.js'

t.test('the payload carries the lead as it stands after the call, with its campaign', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(
    assistantCreated(1, webhookOn),
    campaign('CampaignCreated', 3, 'Spring'),
    leadCreated(7, 3, [8]),
    campaign('CampaignRenamed', 3, 'Summer')
  )
  await r.tell(callCompleted('c-1', { lead_id: 7 }))
  const { lead } = (await onlyDelivery(r)).data
  t.same(lead, {
    id: 7,
    phone_number: '+15551230001',
    variables: { zeta: 1, customer_name: 'Ada Example', email: 'ada@example.com' },
    status: 'completed',
    campaign: { id: 3, name: 'Summer' }
  })
  t.same(Object.keys(lead.variables), ['zeta', 'customer_name', 'email'], 'in the order in which they were given')
})

t.test('the payload carries the secondary contact that was called, with its own number and variables', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(
    assistantCreated(1, webhookOn),
    campaign('CampaignCreated', 3, 'Spring'),
    leadCreated(7, 3, [8]),
    callCompleted('c-1', { lead_id: 8, status: 'completed' })
  )
  t.strictSame((await onlyDelivery(r)).data.lead, {
    id: 8,
    primary_lead_id: 7,
    phone_number: '+15551230002',
    variables: { customer_name: '', email: '' },
    status: 'completed',
    campaign: { id: 3, name: 'Spring' }
  })
})

t.test('a log that is read again, at other positions, holds and counts nothing, and is known at its end', async (t) => {
  const r = await dispatchRig(t)
  const events = [
    assistantCreated(1, webhookOn), callCompleted('c-1'), assistantUpdated(1, { is_webhook_active: false }),
    assistantUpdated(1, { is_webhook_active: true })
  ]
  await r.tell(...events, callCompleted('c-2'))
  const before = await r.deliveries()
  await r.pool.query('UPDATE ledger.this_database SET reread_until = 1000')
  await r.pool.query('TRUNCATE ledger.dispatch_assistants; UPDATE ledger.dispatcher_checkpoint SET position = 0')
  const elsewhere = logOf()(events).map((event) => ({ ...event, position: event.position + 100n }))
  for (const event of elsewhere) await r.tellStored([event])
  t.same(await r.deliveries(), before)
  t.match((await tables(r))[0], [{ revision: '2', settings: { is_webhook_active: true } }])
})

t.test('up to the marker of a database that was lost, a call is recorded with its body and not sent', async (t) => {
  const r = await dispatchRig(t)
  await r.pool.query('UPDATE ledger.this_database SET skip_until = 400')
  await r.tell(assistantCreated(1, webhookOn), assistantCreated(2), callCompleted('c-1'))
  await r.tell(callCompleted('c-2', { assistant_id: 2 }), callCompleted('c-3'))
  const rows = await r.deliveries()
  const outcomes = rows.map((row) => [row.call_id, row.status, row.reason, row.due_at !== null])
  t.same(outcomes, [
    ['c-1', 'skipped', 'restored', false], ['c-2', 'skipped', 'webhook_off', false], ['c-3', 'scheduled', null, true]
  ])
  t.match(rows[0], { body: /"c-1"/ }, 'an operator can send it still')
})
