// A contact with very many leads in one campaign, as a log may have it: read in little memory, and not added to.
import t from 'tap'
import { leadDecider } from '../../../src/features/leads/decide.js'
import type { LeadEvent } from '../../../src/features/leads/events.js'
import { scenarios } from '../../support/commands/given.js'

const given = scenarios(leadDecider)
const person = { phone_number: '+15551230001', variables: { customer_name: 'Ada', email: '', notes: 'x'.repeat(1_000) } }
const at = '2026-01-31T12:00:00Z'
const ids = (lead_id: number) => ({ lead_id, user_id: '1', campaign_id: 1 })
const created = (lead_id: number) => ({
  type: 'LeadCreated' as const,
  data: { ...ids(lead_id), ...person, secondary_contacts: [], created_at: at }
})

const leads = (count: number) => Array.from({ length: count }, (_, index) => created(index))

t.test('what is remembered of a contact grows no further than with the leads that there may be', async (t) => {
  const bytes = (count: number) => JSON.stringify(given(leads(count)).state()).length
  t.ok(bytes(50_000) < bytes(1) + 16_000)
  t.ok(bytes(50_000) < bytes(2_000) + 10_000) // longer ids, and no more of them
})

t.test('of more leads than there may be each that is deleted counts, and one that is erased once', async (t) => {
  const deleted = (lead_id: number) => ({ type: 'LeadDeleted' as const, data: { ...ids(lead_id), deleted_at: at } })
  const erased = (lead_id: number) => ({
    type: 'LeadErased' as const, data: { ...ids(lead_id), with_lead: true, contact_ids: [], erased_at: at }
  })
  const count = (events: LeadEvent[]) => {
    const { ids, older = 0 } = given([...leads(1_500), ...events]).state()
    return ids.length + older
  }
  t.equal(count([]), 1_500)
  t.equal(count([deleted(1_499), deleted(3)]), 1_498)
  t.equal(count(Array.from({ length: 1_500 }, (_, index) => deleted(1_499 - index))), 0)
  t.equal(count([erased(1_499), erased(1_499)]), 1_499)
})
