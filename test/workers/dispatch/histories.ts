// Random histories as the dispatcher may meet them, in batches: reports that come late or twice, deletes and erasures.
import { callStream } from '../../../src/features/calls/events.js'
import { leadStream, leadStatuses } from '../../../src/features/leads/events.js'
import {
  assistantCreated, assistantUpdated, at, call, callCompleted, campaign, leadCreated, leadDeleted, leadStatusChanged,
  leadUpdated, tell, webhookTo, type Told
} from '../../support/events/call-events.js'
import { fc } from '../../support/fuzz/property.js'
import { listed, unlisted } from './dispatching.js'

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

export const history = fc.array(fc.array(event, { minLength: 1, maxLength: 6 }), { maxLength: 12 })
  .map((batches) => [known, ...batches])
