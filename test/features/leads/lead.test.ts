// What creating, changing, deleting and erasing a lead lead to, and where calls move it.
import t from 'tap'
import {
  type CreateLead, type CreateLeadBody, leadDecider, oneLeadDecider, type UpdateLead, type UpdateLeadBody, validateLead,
  validateLeadChanges
} from '../../../src/features/leads/decide.js'
import {
  type LeadCreatedEvent, type LeadErasedEvent, type LeadEvent, type LeadStatus, leadStatuses, type LeadUpdatedEvent
} from '../../../src/features/leads/events.js'
import { afterCall, type Lead, withCalling } from '../../../src/features/leads/model.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'

/** Scenarios of all leads with the number in the campaign, and of lead 100 alone. */
const [all, one] = [scenarios(leadDecider), scenarios(oneLeadDecider(100))]
const now = '2026-02-01T12:00:00.987Z'
const before = '2026-01-31T12:00:00.000Z'
const ids = { lead_id: 100, user_id: '1', campaign_id: 5 }
const none = { customer_name: '', email: '' }
const number = (index: number) => `+1555123000${index}`
const contact = (id: number, variables = none) => ({ id, phone_number: number(id - 100), variables })
const unowned = { code: 'not-found' as const }

type Created = Partial<LeadCreatedEvent['data']>
const alone = (given: Created = {}): LeadCreatedEvent => ({
  type: 'LeadCreated',
  data: { ...ids, phone_number: number(0), variables: none, secondary_contacts: [], created_at: now, ...given }
})
const created = (given: Created = {}) =>
  alone({ secondary_contacts: [contact(101), contact(102)], created_at: before, ...given })
const updated = (changes: LeadUpdatedEvent['data']['changes'], removed_contacts: number[] = []): LeadEvent =>
  ({ type: 'LeadUpdated', data: { ...ids, changes, removed_contacts, updated_at: now } })
const moved = (status: LeadStatus, contact_id: number | null = null): LeadEvent =>
  ({ type: 'LeadStatusChanged', data: { ...ids, contact_id, status, changed_at: now } })
const deleted: LeadEvent = { type: 'LeadDeleted', data: { ...ids, deleted_at: now } }
const erased = (lead_id: number, contact_ids: number[], with_lead = true): LeadErasedEvent =>
  ({ type: 'LeadErased', data: { ...ids, lead_id, with_lead, contact_ids, erased_at: now } })

const create = (given: Partial<CreateLeadBody> = {}, refused?: Refusal['errors']) => (): CreateLead => {
  const body = { phone_number: number(0), campaign_id: 5, ...given }
  const valid = validateLead({ body, ...(refused && { refused }) }, { campaignName: 'Spring' })
  return { ...valid, ids: [100, 101, 102, 103], userId: '1', now }
}
const found = (events: LeadEvent[] = [created()]): Lead => {
  const lead = one(events).state()
  if (!lead) throw new Error('there is no lead')
  return lead
}
const update = (body: UpdateLeadBody, lead = found(), userId = '1') => (): UpdateLead =>
  ({ ...validateLeadChanges({ body }, { lead }), ids: [900, 901], userId, now })
const remove = (userId = '1') => ({ type: 'delete' as const, ids: [], userId, now })

t.test('customer_name and email are always there, empty when not given; other variables are kept', async (t) => {
  all([]).when(create()).then(t, [alone()])
  const variables = { email: 'ada@example.com', plan: { tier: 1 } }
  all([]).when(create({ variables })).then(t, [alone({ variables: { ...variables, customer_name: '' } })])
})

t.test('secondary contacts keep their order and get the ids after the lead’s', async (t) => {
  const secondary_contacts = [3, 1, 2].map((index) => ({ phone_number: number(index), variables: { ...none, index } }))
  all([]).when(create({ secondary_contacts })).then(t, [alone({
    secondary_contacts: secondary_contacts.map((each, index) => ({ id: 101 + index, ...each }))
  })])
})

const duplicate = invalid({
  phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
})

t.test('a phone number is a lead of a campaign once, which is told once the body is sound', async (t) => {
  for (const body of [{}, { allow_dupplicate: false }]) all([alone()]).when(create(body)).then(t, duplicate)
  const refused = { variables: ['must be an object'] }
  all([alone()]).when(create({}, refused)).then(t, invalid(refused))
})

t.test('allow_dupplicate allows another one, up to 1,000 of them', async (t) => {
  const leads = Array.from({ length: 1_000 }, (_, index) => alone({ lead_id: 1_000 + index }))
  const another = create({ allow_dupplicate: true })
  for (const events of [leads.slice(0, 1), leads.slice(1)]) all(events).when(another).then(t, [alone()])
  const most = invalid({ phone_number: ['is a lead of this campaign 1000 times already, which is the most'] })
  all(leads).when(another).then(t, most)
})

t.test('a deleted number is created anew, as often as it was deleted', async (t) => {
  all([created(), deleted]).when(create()).then(t, [alone()])
  for (const events of [[created(), deleted, created({ lead_id: 101 })], [created(), moved('completed')]]) {
    all(events).when(create()).then(t, duplicate)
  }
})

const recorded = new Date('2026-01-31T12:00:02.000Z')

t.test('a call moves the lead to the status the engine gives; a completed call without one completes it', async (t) => {
  const fresh = { status: 'created' as const, newest_report_at: null }
  const after = (report: Omit<Parameters<typeof afterCall>[1], 'ended_at'>) =>
    afterCall(fresh, { ...report, ended_at: '2026-01-31T13:00:00+01:00' }, recorded)
  const at = { newest_report_at: '2026-01-31T12:00:00.000Z' }
  t.strictSame(after({ status: 'failed', lead_status: 'rescheduled' }), { status: 'rescheduled', ...at })
  t.strictSame(after({ status: 'completed', lead_status: 'processing' }), { status: 'processing', ...at })
  t.strictSame(after({ status: 'completed' }), { status: 'completed', ...at })
  for (const status of ['failed', 'no-answer', 'busy', 'voicemail', 'canceled'] as const) {
    t.strictSame(after({ status }), { status: 'created', ...at })
  }
})

t.test('a report of a call that ended before the latest moves nothing, one of the same instant does', async (t) => {
  const lead = { status: 'rescheduled' as const, newest_report_at: '2026-01-31T12:00:00.123+00:00' }
  const ended = (ended_at: string) => afterCall(lead, { status: 'completed', ended_at }, recorded)?.status
  t.equal(ended('2026-01-31T12:00:00.122Z'), undefined)
  t.equal(ended('2026-01-31T10:00:00.122-02:00'), undefined)
  t.equal(ended('2026-01-31T12:00:00.123Z'), 'completed')
  t.equal(ended('2026-01-31T12:00:00.123456789Z'), 'completed', 'milliseconds count')
})

t.test('a call that is said to end long after its report ended when it was recorded, so later calls count', async (t) => {
  const lead = { status: 'created' as const, newest_report_at: null }
  const ended = (ended_at: string) => afterCall(lead, { status: 'completed', ended_at }, recorded)?.newest_report_at
  t.equal(ended('9998-01-01T00:00:00Z'), recorded.toISOString())
  t.equal(ended('2026-01-31T12:15:02Z'), '2026-01-31T12:15:02.000Z', 'clocks may be ahead a little')
})

t.test('no report takes a lead off the blacklist', async (t) => {
  const lead = { status: 'blacklisted' as const, newest_report_at: '2026-01-31T12:00:00.000Z' }
  for (const lead_status of leadStatuses) {
    const after = afterCall(lead, { status: 'completed', lead_status, ended_at: '2026-01-31T12:00:01Z' }, recorded)
    t.equal(after?.status, 'blacklisted')
  }
})

t.test('variables are replaced whole, and what is the same again changes nothing', async (t) => {
  one([created()]).when(update({ variables: { plan: 'yearly' } }))
    .then(t, [updated({ variables: { ...none, plan: 'yearly' } })])
  const { phone_number, campaign_id, variables, secondary_contacts: contacts } = found()
  const secondary_contacts = contacts.map(({ id, phone_number, variables }) => ({ id, phone_number, variables }))
  const asItWasRead = { phone_number, campaign_id, variables, secondary_contacts }
  for (const body of [{}, { variables: {} }, asItWasRead]) one([created()]).when(update(body)).then(t, [])
})

t.test('a contact with its id is kept, one without is new, one that is left out is gone', async (t) => {
  const kept = { id: 102, phone_number: number(2) }
  const body = { secondary_contacts: [{ phone_number: number(7) }, { ...kept, variables: { x: 1 } }] }
  const contacts = [{ ...contact(900), phone_number: number(7) }, { ...contact(102), variables: { ...none, x: 1 } }]
  one([created()]).when(update(body)).then(t, [updated({ secondary_contacts: contacts }, [101])])
  const lead = found([created(), updated({ secondary_contacts: contacts }, [101])])
  t.match(lead.secondary_contacts, [{ id: 900, created_at: now }, { id: 102, created_at: before, updated_at: now }])
  one([created()]).when(update({ secondary_contacts: [] })).then(t, [updated({ secondary_contacts: [] }, [101, 102])])
  one([created()]).when(update({ secondary_contacts: [kept, { id: 101, phone_number: number(1) }] }))
    .then(t, [updated({ secondary_contacts: [contact(102), contact(101)] })])
  const named = contact(102, { customer_name: 'Ada', email: 'ada@example.com' })
  one([created({ secondary_contacts: [contact(101), named] })]).when(update({ secondary_contacts: [kept] }))
    .then(t, [updated({ secondary_contacts: [named] }, [101])])
})

t.test('numbers and campaign cannot be changed, and a contact must be one of the lead, once', async (t) => {
  const same = ['must stay as it is']
  const refused = (body: UpdateLeadBody, errors: Record<string, string[]>) =>
    one([created()]).when(update(body)).then(t, invalid(errors))
  refused({ phone_number: number(9), campaign_id: 6 }, { phone_number: same, campaign_id: same })
  refused({ secondary_contacts: [{ id: 101, phone_number: number(9) }, { id: 55, phone_number: number(8) }] }, {
    'secondary_contacts.0.phone_number': same, 'secondary_contacts.1.id': ['must be a secondary contact of this lead']
  })
  refused({ secondary_contacts: [{ id: 101, phone_number: number(1) }, { id: 101, phone_number: number(0) }] }, {
    'secondary_contacts.1.id': ['must be named once'],
    'secondary_contacts.1.phone_number': ['must differ from the other phone numbers of this lead']
  })
})

t.test('its user sets the status of a lead and of its contacts', async (t) => {
  for (const status of leadStatuses.filter((each) => each !== 'processing' && each !== 'created')) {
    one([created()]).when(update({ status })).then(t, [moved(status)])
    one([created(), moved(status)]).when(update({ status }, found([created(), moved(status)]))).then(t, [])
  }
  const blacklisted = { id: 101, phone_number: number(1), status: 'blacklisted' as const }
  const contacts = [blacklisted, { id: 102, phone_number: number(2) }]
  one([created()]).when(update({ secondary_contacts: contacts })).then(t, [moved('blacklisted', 101)])
  one([created()]).when(update({ variables: { a: 1 }, status: 'scheduled' }))
    .then(t, [updated({ variables: { ...none, a: 1 } }), moved('scheduled')])
})

t.test('a status that a call has moved is set back, though the user had set it before', async (t) => {
  const completed = { ...found([created(), moved('scheduled')]), status: 'completed' as const }
  one([created(), moved('scheduled')]).when(update({ status: 'scheduled' }, completed)).then(t, [moved('scheduled')])
})

t.test('another user finds nothing, nor does anybody after the deletion', async (t) => {
  for (const command of [remove('2'), update({ status: 'scheduled' }, found(), '2')]) {
    one([created()]).when(command).then(t, unowned)
  }
  one([created()]).when(remove()).then(t, [deleted])
  for (const command of [remove(), update({ variables: { a: 1 } })]) {
    one([created(), deleted]).when(command).then(t, unowned)
  }
})

t.test('events of other leads in the same stream change nothing of a lead', async (t) => {
  const others = [alone({ lead_id: 200 }), { ...deleted, data: { ...deleted.data, lead_id: 200 } }, erased(200, [])]
  t.strictSame(found([created(), ...others]), found())
})

t.test('an answer has the status that calls gave, but for those that the command gave', async (t) => {
  const known = { ...found(), status: 'completed' as const, updated_at: '2026-03-01T12:00:00.000Z' }
  const after = found([created(), updated({ variables: none }), moved('scheduled')])
  t.match(withCalling(after, known, new Set()), { status: 'completed', updated_at: '2026-03-01T12:00:00.000Z' })
  t.match(withCalling(after, known, new Set([100])), { status: 'scheduled' })
  t.match(withCalling(after, undefined, new Set()), { status: 'scheduled', updated_at: now })
})

t.test('an erased lead is as if it had never been, whether or not the log still has what was before', async (t) => {
  const gone = [erased(100, [101, 102]), erased(200, [201, 202])]
  for (const events of [[created(), created({ lead_id: 200 }), ...gone], gone]) {
    t.equal(one(events).state(), undefined)
    t.strictSame(all(events).state(), { ids: [] })
    t.strictSame(all([...events, created({ lead_id: 300 })]).state().ids, [300])
  }
})

t.test('a lead whose contact is erased stays, without the contact', async (t) => {
  const events = [created(), erased(100, [101], false)]
  t.match(found(events), { id: 100, phone_number: number(0), updated_at: now, secondary_contacts: [{ id: 102 }] })
  t.strictSame(all(events).state().ids, [100])
})
