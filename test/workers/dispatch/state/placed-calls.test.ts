// What the dispatcher makes, on an empty Postgres, of a log from which an erasure took what told of leads.
import t from 'tap'
import { countParkedStreams } from '../../../../projections/parking/count-parked-streams.js'
import { leadStream } from '../../../../src/domain/lead/events.js'
import { assistantCreated, at, callCompleted, tell } from '../../../support/events/call-events.js'
import { dispatchRig, webhookOn } from '../../../support/workers/dispatching.js'

const stream = leadStream(3, 'digest')
const whose = { lead_id: 7, user_id: '1', campaign_id: 3 }
const restated = (calls: string[]) => tell(stream, {
  type: 'LeadRestated',
  data: {
    ...whose,
    contact_id: null,
    place: 0,
    phone_number: '+15551230007',
    variables: { customer_name: '', email: '' },
    status: 'completed',
    is_deleted: false,
    newest_report_at: at,
    created_at: at,
    updated_at: at,
    calls,
    restated_at: at
  }
})
const erased = (call_id: string) => tell(stream, {
  type: 'LeadErased',
  data: { ...whose, with_lead: true, contact_ids: [8], calls: [{ call_id, lead_id: 8 }], erased_at: at }
})

t.test('calls of leads and contacts that are told of later are not left to operators', async (t) => {
  const r = await dispatchRig(t)
  await r.tell(assistantCreated(1, webhookOn))
  await r.tell(callCompleted('of-restated', { lead_id: 7 }), callCompleted('of-erased', { lead_id: 8 }))
  await r.tell(callCompleted('of-nobody', { lead_id: 9 }))
  t.match(await countParkedStreams(r.pool), [{ streams: 3 }])
  await r.tell(restated(['of-restated']))
  t.match(await countParkedStreams(r.pool), [{ streams: 2 }])
  await r.tell(callCompleted('in-one-batch', { lead_id: 10 }), erased('of-erased'))
  t.match(await countParkedStreams(r.pool), [{ streams: 2 }], 'what nobody tells of stays')
  const { rows } = await r.pool.query('SELECT stream FROM ledger.parked_events ORDER BY stream')
  t.strictSame(rows.map(({ stream }) => stream), ['call-in-one-batch', 'call-of-nobody'])
  t.equal((await r.deliveries()).length, 4, 'each has its delivery')
})
