// What becomes of a call: a delivery, or a row with the reason why there is none; and what the dispatcher remembers of
// assistants, leads and campaigns, also in a database that was restored.
import t from 'tap'
import { callStatuses } from '../../../src/features/calls/events.js'
import {
  assistantCreated, assistantUpdated, callCompleted, settings, campaign, leadCreated, logOf
} from '../../support/events/call-events.js'
import { url, webhookOn, onlyDelivery, tables } from './dispatching.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'
import { ruleRig } from '../../support/workers/sender-rig.js'

const { begin } = await ruleRig(t)

t.test('the settings at the place of the call in the log decide, within one batch and over several', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1),
    callCompleted('c-1'),
    assistantUpdated(1, { ...webhookOn, assistant_name: 'Desk two' }),
    callCompleted('c-2')
  )
  await r.tell(
    callCompleted('c-3'),
    assistantUpdated(1, { send_webhook_only_on_completed: false }),
    callCompleted('c-4', { status: 'failed' })
  )
  t.same((await r.deliveries()).map(({ call_id, status }) => [call_id, status]), [
    ['c-1', 'skipped'], ['c-2', 'scheduled'], ['c-3', 'scheduled'], ['c-4', 'scheduled']
  ])
  t.match((await r.deliveries())[1]?.body, /Desk two/)
})

t.test('send_webhook_only_on_completed keeps back other statuses; without it every status is sent', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn), assistantCreated(2, { ...webhookOn, send_webhook_only_on_completed: false })
  )
  await r.tell(...[1, 2].flatMap((assistant_id) =>
    callStatuses.map((status) => callCompleted(`${assistant_id}-${status}`, { assistant_id, status }))))
  for (const { call_id, status, reason } of await r.deliveries()) {
    const isSent = call_id === '1-completed' || String(call_id).startsWith('2-')
    t.same([status, reason], isSent ? ['scheduled', null] : ['skipped', 'not_completed'], String(call_id))
  }
  t.equal((await r.deliveries()).length, 2 * callStatuses.length)
})

t.test('malformed, misplaced and unstorable events stop nothing and are kept for operators', async (t) => {
  const r = await dispatchRig(t, await begin())
  await r.tell(
    assistantCreated(1, webhookOn),
    { stream: 'assistant-2', type: 'AssistantCreated', data: { assistant_id: 2 } },
    { ...assistantUpdated(1, { webhook_url: 'https://thief.example/' }), stream: 'assistant-99' },
    {
      ...assistantCreated(3),
      stream: 'assistant-3',
      data: { assistant_id: 3, user_id: 'a\0b', settings: settings(), created_at: 'x' }
    },
    { stream: 'call-not ok', type: 'CallCompleted', data: {} },
    { ...callCompleted('c-1'), stream: 'call-c-2' },
    { stream: 'call-c-3', type: 'CallCompleted', data: new Uint8Array([1, 2]) },
    callCompleted('c-4', { transcript: [{ role: 'tool', text: 'nul \0 and \ud800', at: 0 }] })
  )
  t.same((await r.deliveries()).map(({ call_id, status, reason }) => [call_id, status, reason]), [
    ['c-2', 'skipped', 'invalid'], ['c-3', 'skipped', 'invalid'], ['c-4', 'scheduled', null]
  ])
  t.match((await r.deliveries())[2]?.body, 'nul \\u0000 and \\ud800')
  const { rows } = await r.pool.query(`
    SELECT stream FROM ledger.parked_events WHERE consumer = 'dispatcher' ORDER BY position`)
  t.same(rows.map(({ stream }) => stream), ['assistant-2', 'assistant-99', 'assistant-3', 'call-not ok'])
  t.equal((await r.hook()).url, url)
})

t.test('a batch of large bodies is written in pieces, every row once', async (t) => {
  const r = await dispatchRig(t, await begin())
  const turns = [{ role: 'tool' as const, text: 'x'.repeat(120_000), at: 0 }]
  const calls = Array.from({ length: 100 }, (_, n) => callCompleted(`c-${n}`, { transcript: turns }))
  await r.tell(assistantCreated(1, webhookOn), ...calls)
  t.equal((await r.deliveries()).length, 100)
})

t.test('the payload carries the lead as it stands after the call, with its campaign', async (t) => {
  const r = await dispatchRig(t, await begin())
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
  const r = await dispatchRig(t, await begin())
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
  const r = await dispatchRig(t, await begin())
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
  const r = await dispatchRig(t, await begin())
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
