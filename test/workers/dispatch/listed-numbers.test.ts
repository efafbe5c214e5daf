// What webhooks say of people whose number must not be called.
import t from 'tap'
import { listed, unlisted, webhookOn } from './dispatching.js'
import { dispatchRig } from '../../support/workers/delivery-rig.js'
import { assistantCreated, callCompleted, leadCreated, leadUpdated } from '../../support/events/call-events.js'

const [ofLead, ofContact] = ['+15551230001', '+15551230002'] // as leadCreated gives them

/** By call, in the order of the log. */
async function told (r: Awaited<ReturnType<typeof dispatchRig>>) {
  const { rows } = await r.pool.query<{ call_id: string, body: string }>(
    'SELECT call_id, body FROM ledger.webhook_deliveries ORDER BY call_id')
  return rows.map(({ call_id, body }) => [call_id, JSON.parse(body).data.lead.status])
}

t.test('from the entry on they are blacklisted, and after it what calls made of them meanwhile', async (t) => {
  const r = await dispatchRig(t)
  const callOf = (id: string, status: 'scheduled' | 'rescheduled') => callCompleted(id, { lead_id: 7, lead_status: status })
  const callOfContact = (id: string) => callCompleted(id, { lead_id: 8 })
  await r.tell(assistantCreated(1, webhookOn), leadCreated(7, 3, [8]), callOf('c-1', 'scheduled'))
  await r.tell(listed(ofLead), callOf('c-2', 'rescheduled'), callOfContact('c-3'))
  await r.tell(callOf('c-4', 'rescheduled'), listed(ofContact), callOfContact('c-5'))
  await r.tell(unlisted(ofLead), callOf('c-6', 'rescheduled'), callOfContact('c-7'))
  t.same(await told(r), [
    ['c-1', 'scheduled'], ['c-2', 'blacklisted'], ['c-3', 'completed'], ['c-4', 'blacklisted'], ['c-5', 'blacklisted'],
    ['c-6', 'rescheduled'], ['c-7', 'blacklisted']
  ])
})

t.test('also where the entry was there before the lead, in its batch or in an earlier one, and for its user alone', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(assistantCreated(1, webhookOn), listed(ofLead), listed(ofContact, 2, 'another'))
  await r.tell(leadCreated(7, 3, [8]), callCompleted('c-1', { lead_id: 7 }), callCompleted('c-2', { lead_id: 8 }))
  await r.tell(leadUpdated(7, 3, [8, 9], []), callCompleted('c-3', { lead_id: 9 }), listed(ofContact, 3))
  await r.tell(callCompleted('c-4', { lead_id: 9 }))
  t.same(await told(r), [
    ['c-1', 'blacklisted'], ['c-2', 'completed'], ['c-3', 'completed'], ['c-4', 'blacklisted']
  ])
})
