// What an erasure leaves of leads and contacts for the commands that come after it.
import t from 'tap'
import { leadDecider, oneLeadDecider } from '../../../src/features/leads/decide.js'
import type { LeadCreatedEvent, LeadErasedEvent } from '../../../src/features/leads/events.js'
import { scenarios } from '../../support/commands/given.js'

const before = '2026-01-31T12:00:00.000Z'
const now = '2026-02-01T12:00:00.000Z'
const ids = { user_id: '1', campaign_id: 5 }
const person = (id: number) => ({ phone_number: `+1555123${id}`, variables: { customer_name: '', email: '' } })

const created = (lead_id: number): LeadCreatedEvent => {
  const secondary_contacts = [lead_id + 1, lead_id + 2].map((id) => ({ id, ...person(id) }))
  return { type: 'LeadCreated', data: { lead_id, ...ids, ...person(lead_id), secondary_contacts, created_at: before } }
}
const erased = (lead_id: number, contact_ids: number[], with_lead = true): LeadErasedEvent =>
  ({ type: 'LeadErased', data: { lead_id, ...ids, with_lead, contact_ids, erased_at: now } })

const one = scenarios(oneLeadDecider(1000))
const all = scenarios(leadDecider)

t.test('an erased lead is as if it had never been', async (t) => {
  t.equal(one([created(1000), erased(1000, [1001, 1002])]).state(), undefined)
  t.equal(one([erased(1000, [1001, 1002])]).state(), undefined)
  t.match(one([created(1000), erased(2000, [])]).state(), { id: 1000 })
})

t.test('a lead whose contact is erased stays, without the contact', async (t) => {
  t.match(one([created(1000), erased(1000, [1001], false)]).state(), {
    id: 1000, phone_number: '+15551231000', updated_at: now, secondary_contacts: [{ id: 1002 }]
  })
  t.strictSame(all([created(1000), erased(1000, [1001], false)]).state().ids, [1000])
})

t.test('the number of an erased lead is free in its campaign, whether or not the log still has what was before', async (t) => {
  const gone = [erased(1000, [1001, 1002]), erased(2000, [2001, 2002])]
  for (const events of [[created(1000), created(2000), ...gone], gone]) {
    t.strictSame(all(events).state(), { ids: [] })
    t.strictSame(all([...events, created(3000)]).state().ids, [3000])
  }
})
