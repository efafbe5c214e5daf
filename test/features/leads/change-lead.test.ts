// What changing and deleting a lead lead to, and creating its number anew.
import t from 'tap'
import {
  leadDecider, oneLeadDecider, type UpdateLead, type UpdateLeadBody, validateLead, validateLeadChanges
} from '../../../src/features/leads/decide.js'
import {
  type LeadCreatedEvent, type LeadEvent, type LeadStatus, leadStatuses, type LeadUpdatedEvent
} from '../../../src/features/leads/events.js'
import { type Lead, withCalling } from '../../../src/features/leads/model.js'
import { invalid, scenarios } from '../../support/commands/given.js'

const decider = oneLeadDecider(100)
const given = scenarios(decider)
const now = '2026-02-01T12:00:00.000Z'
const before = '2026-01-31T12:00:00.000Z'
const ids = { lead_id: 100, user_id: '1', campaign_id: 5 }
const none = { customer_name: '', email: '' }
const number = (index: number) => `+1555123000${index}`
const contact = (id: number, variables = none) => ({ id, phone_number: number(id - 100), variables })

const created = (given: Partial<LeadCreatedEvent['data']> = {}): LeadCreatedEvent => ({
  type: 'LeadCreated',
  data: {
    ...ids,
    phone_number: number(0),
    variables: none,
    secondary_contacts: [contact(101), contact(102)],
    created_at: before,
    ...given
  }
})
const updated = (changes: LeadUpdatedEvent['data']['changes'], removed_contacts: number[] = []): LeadEvent =>
  ({ type: 'LeadUpdated', data: { ...ids, changes, removed_contacts, updated_at: now } })
const moved = (status: LeadStatus, contact_id: number | null = null): LeadEvent =>
  ({ type: 'LeadStatusChanged', data: { ...ids, contact_id, status, changed_at: now } })
const deleted: LeadEvent = { type: 'LeadDeleted', data: { ...ids, deleted_at: now } }

const found = (events: LeadEvent[] = [created()]): Lead => {
  const lead = given(events).state()
  if (!lead) throw new Error('there is no lead')
  return lead
}
const update = (body: UpdateLeadBody, lead = found(), userId = '1') => (): UpdateLead =>
  ({ ...validateLeadChanges({ body }, { lead }), ids: [900, 901], userId, now })
const remove = (userId = '1') => ({ type: 'delete' as const, ids: [], userId, now })

t.test('variables are replaced whole, and what is the same again changes nothing', async (t) => {
  given([created()]).when(update({ variables: { plan: 'yearly' } }))
    .then(t, [updated({ variables: { ...none, plan: 'yearly' } })])
  given([created()]).when(update({ variables: {} })).then(t, [])
  given([created()]).when(update({})).then(t, [])
})

t.test('a contact with its id is kept, one without is new, one that is left out is gone', async (t) => {
  const kept = { id: 102, phone_number: number(2) }
  const body = { secondary_contacts: [{ phone_number: number(7) }, { ...kept, variables: { x: 1 } }] }
  const contacts = [{ ...contact(900), phone_number: number(7) }, { ...contact(102), variables: { ...none, x: 1 } }]
  given([created()]).when(update(body)).then(t, [updated({ secondary_contacts: contacts }, [101])])
  const lead = found([created(), updated({ secondary_contacts: contacts }, [101])])
  t.match(lead.secondary_contacts, [{ id: 900, created_at: now }, { id: 102, created_at: before, updated_at: now }])
  given([created()]).when(update({ secondary_contacts: [] })).then(t, [updated({ secondary_contacts: [] }, [101, 102])])
  given([created()]).when(update({ secondary_contacts: [kept, { id: 101, phone_number: number(1) }] }))
    .then(t, [updated({ secondary_contacts: [contact(102), contact(101)] })])
})

t.test('the lead as it was read can be sent back', async (t) => {
  const { phone_number, campaign_id, variables, secondary_contacts: contacts } = found()
  const secondary_contacts = contacts.map(({ id, phone_number, variables }) => ({ id, phone_number, variables }))
  given([created()]).when(update({ phone_number, campaign_id, variables, secondary_contacts })).then(t, [])
})

t.test('numbers and campaign cannot be changed, and a contact must be one of the lead, once', async (t) => {
  const same = ['must stay as it is']
  given([created()]).when(update({ phone_number: number(9), campaign_id: 6 }))
    .then(t, invalid({ phone_number: same, campaign_id: same }))
  const contacts = (...secondary_contacts: NonNullable<UpdateLeadBody['secondary_contacts']>) =>
    update({ secondary_contacts })
  given([created()]).when(contacts({ id: 101, phone_number: number(9) }, { id: 55, phone_number: number(8) }))
    .then(t, invalid({
      'secondary_contacts.0.phone_number': same, 'secondary_contacts.1.id': ['must be a secondary contact of this lead']
    }))
  given([created()]).when(contacts({ id: 101, phone_number: number(1) }, { id: 101, phone_number: number(8) }))
    .then(t, invalid({ 'secondary_contacts.1.id': ['must be named once'] }))
  given([created()]).when(contacts({ phone_number: number(0) }))
    .then(
      t, invalid({ 'secondary_contacts.0.phone_number': ['must differ from the other phone numbers of this lead'] })
    )
})

t.test('its user sets the status of a lead and of its contacts', async (t) => {
  for (const status of leadStatuses.filter((each) => each !== 'processing' && each !== 'created')) {
    given([created()]).when(update({ status })).then(t, [moved(status)])
    given([created(), moved(status)]).when(update({ status }, found([created(), moved(status)]))).then(t, [])
  }
  const blacklisted = { id: 101, phone_number: number(1), status: 'blacklisted' as const }
  const contacts = [blacklisted, { id: 102, phone_number: number(2) }]
  given([created()]).when(update({ secondary_contacts: contacts })).then(t, [moved('blacklisted', 101)])
  given([created()]).when(update({ variables: { a: 1 }, status: 'scheduled' }))
    .then(t, [updated({ variables: { ...none, a: 1 } }), moved('scheduled')])
})

t.test('a status that a call has moved is set back, though the user had set it before', async (t) => {
  const completed = { ...found([created(), moved('scheduled')]), status: 'completed' as const }
  given([created(), moved('scheduled')]).when(update({ status: 'scheduled' }, completed)).then(t, [moved('scheduled')])
})

t.test('another user finds nothing, nor does anybody after the deletion', async (t) => {
  const unowned = { code: 'not-found' as const }
  given([created()]).when(update({ status: 'scheduled' }, found(), '2')).then(t, unowned)
  given([created()]).when(remove('2')).then(t, unowned)
  given([created()]).when(remove()).then(t, [deleted])
  for (const command of [remove(), update({ variables: { a: 1 } })]) {
    given([created(), deleted]).when(command).then(t, unowned)
  }
})

t.test('of a stream with several leads, events of the others change nothing', async (t) => {
  const other = { ...created({ lead_id: 200 }), data: { ...created({ lead_id: 200 }).data, secondary_contacts: [] } }
  t.strictSame(found([created(), other, { ...deleted, data: { ...deleted.data, lead_id: 200 } }]), found())
})

t.test('a deleted number is created anew, as often as it was deleted', async (t) => {
  const create = scenarios(leadDecider)
  const body = { phone_number: number(0), campaign_id: 5 }
  const command = () => ({ ...validateLead({ body }, { campaignName: 'Spring' }), ids: [300], userId: '1', now })
  const anew = [{ ...created(), data: { ...created({ lead_id: 300, created_at: now }).data, secondary_contacts: [] } }]
  const refused = invalid({
    phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
  })
  create([created(), deleted]).when(command).then(t, anew)
  create([created(), deleted, created({ lead_id: 101 })]).when(command).then(t, refused)
  create([created(), created({ lead_id: 101 }), deleted]).when(command).then(t, refused)
  create([created(), moved('completed')]).when(command).then(t, refused)
})

t.test('an answer has the status that calls gave, but for those that the command gave', async (t) => {
  const known = { ...found(), status: 'completed' as const, updated_at: '2026-03-01T12:00:00.000Z' }
  const after = found([created(), updated({ variables: none }), moved('scheduled')])
  t.match(withCalling(after, known, new Set()), { status: 'completed', updated_at: '2026-03-01T12:00:00.000Z' })
  t.match(withCalling(after, known, new Set([100])), { status: 'scheduled' })
  t.match(withCalling(after, undefined, new Set()), { status: 'scheduled', updated_at: now })
})
