// What creating a lead leads to.
import t from 'tap'
import {
  type CreateLead, type CreateLeadBody, leadDecider, type LeadFacts, validateLead
} from '../../../src/features/leads/decide.js'
import { type LeadCreatedEvent, leadStatuses } from '../../../src/features/leads/events.js'
import { afterCall, describeLead, leadOf } from '../../../src/features/leads/model.js'
import { invalid, scenarios, type Refusal } from '../../support/commands/given.js'

const given = scenarios(leadDecider)
const now = '2026-01-31T12:00:00.987Z'
const number = (index: number) => `+1555123000${index}`

interface Circumstances { refused?: Refusal['errors'], facts?: LeadFacts }

const create = (
  given: Partial<CreateLeadBody>, { refused, facts = { campaignName: 'Spring' } }: Circumstances = {}
) => (): CreateLead => {
  const body = { phone_number: number(0), campaign_id: 5, ...given }
  return { ...validateLead({ body, ...(refused && { refused }) }, facts), ids: [100, 101, 102, 103], userId: '1', now }
}

const created = (given: Partial<LeadCreatedEvent['data']> = {}): LeadCreatedEvent => {
  const contact = { phone_number: number(0), variables: { customer_name: '', email: '' } }
  return {
    type: 'LeadCreated',
    data: { lead_id: 100, user_id: '1', campaign_id: 5, ...contact, secondary_contacts: [], created_at: now, ...given }
  }
}

t.test('customer_name and email are always there, empty when not given; other variables are kept', async (t) => {
  given([]).when(create({})).then(t, [created()])
  given([]).when(create({ variables: { email: 'ada@example.com', plan: { tier: 1 } } }))
    .then(t, [created({ variables: { email: 'ada@example.com', plan: { tier: 1 }, customer_name: '' } })])
})

t.test('secondary contacts keep their order and get the ids after the lead’s', async (t) => {
  const contacts = [
    { phone_number: number(3) },
    { phone_number: number(1), variables: { customer_name: 'Ada' } },
    { phone_number: number(2) }
  ]
  const none = { customer_name: '', email: '' }
  given([]).when(create({ secondary_contacts: contacts })).then(t, [created({
    secondary_contacts: [
      { id: 101, phone_number: number(3), variables: none },
      { id: 102, phone_number: number(1), variables: { customer_name: 'Ada', email: '' } },
      { id: 103, phone_number: number(2), variables: none }
    ]
  })])
})

t.test('a phone number is a lead of a campaign once', async (t) => {
  const duplicate = invalid({
    phone_number: ['is already a lead of this campaign; send allow_dupplicate: true to create another']
  })
  given([created()]).when(create({})).then(t, duplicate)
  given([created()]).when(create({ allow_dupplicate: false })).then(t, duplicate)
})

t.test('that it is a lead already is told once the body is sound', async (t) => {
  const refused = { variables: ['must be an object'] }
  given([created()]).when(create({}, { refused })).then(t, invalid(refused))
})

t.test('allow_dupplicate allows another one, up to 1,000 of them', async (t) => {
  given([created()]).when(create({ allow_dupplicate: true })).then(t, [created()])
  given([created(), created({ lead_id: 90 })]).when(create({ allow_dupplicate: true })).then(t, [created()])
  const leads = Array.from({ length: 1_000 }, (_, index) => created({ lead_id: 1_000 + index }))
  given(leads.slice(1)).when(create({ allow_dupplicate: true })).then(t, [created()])
  const most = invalid({ phone_number: ['is a lead of this campaign 1000 times already, which is the most'] })
  given(leads).when(create({ allow_dupplicate: true })).then(t, most)
})

t.test('the campaign must be the user’s; a campaign that the schema refused is told once', async (t) => {
  given([]).when(create({}, { facts: { campaignName: null } }))
    .then(t, invalid({ campaign_id: ['must be one of your campaigns'] }))
  const refused = { campaign_id: ['must be an integer'] }
  given([]).when(create({}, { facts: {}, refused })).then(t, invalid(refused))
})

t.test('numbers differ from the primary one and from each other, and each repetition is told', async (t) => {
  const contacts = [number(0), number(1), number(1), number(2), number(2)].map((phone_number) => ({ phone_number }))
  const again = ['must differ from the other phone numbers of this lead']
  given([]).when(create({ secondary_contacts: contacts })).then(t, invalid({
    'secondary_contacts.0.phone_number': again, 'secondary_contacts.2.phone_number': again, 'secondary_contacts.4.phone_number': again
  }))
})

t.test('rules bear what the schema refused: null contacts, contacts without numbers, no list at all', async (t) => {
  for (const secondary_contacts of [[null, {}, { phone_number: 5 }], null, 'x', 7, { length: 2 }]) {
    const refused = { secondary_contacts: ['must be an array'] }
    given([]).when(create({ secondary_contacts } as unknown as Partial<CreateLeadBody>, { refused }))
      .then(t, invalid(refused))
  }
})

t.test('the lead is described with exactly the documented keys, in UTC, seconds cut off', async (t) => {
  const [event] = [created({
    secondary_contacts: [{ id: 101, phone_number: number(1), variables: { customer_name: '', email: '', x: 1 } }]
  })]
  const fresh = { status: 'created', created_at: '2026-01-31 12:00:00', updated_at: '2026-01-31 12:00:00' }
  t.strictSame(describeLead(leadOf(event), 'Spring'), {
    id: 100,
    phone_number: number(0),
    variables: { customer_name: '', email: '' },
    ...fresh,
    campaign_id: 5,
    campaign: { id: 5, name: 'Spring' },
    secondary_contacts: [{
      id: 101, phone_number: number(1), variables: { customer_name: '', email: '', x: 1 }, ...fresh
    }]
  })
})

t.test('a call moves the lead to the status the engine gives; a completed call without one completes it', async (t) => {
  const fresh = { status: 'created' as const, newest_report_at: null }
  const after = (report: Omit<Parameters<typeof afterCall>[1], 'ended_at'>) =>
    afterCall(fresh, { ...report, ended_at: '2026-01-31T13:00:00+01:00' })
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
  const ended = (ended_at: string) => afterCall(lead, { status: 'completed', ended_at })?.status
  t.equal(ended('2026-01-31T12:00:00.122Z'), undefined)
  t.equal(ended('2026-01-31T10:00:00.122-02:00'), undefined)
  t.equal(ended('2026-01-31T12:00:00.123Z'), 'completed')
  t.equal(ended('2026-01-31T12:00:00.123456789Z'), 'completed', 'milliseconds count')
})

t.test('no report takes a lead off the blacklist', async (t) => {
  const lead = { status: 'blacklisted' as const, newest_report_at: '2026-01-31T12:00:00.000Z' }
  for (const lead_status of leadStatuses) {
    const after = afterCall(lead, { status: 'completed', lead_status, ended_at: '2026-01-31T13:00:00Z' })
    t.equal(after?.status, 'blacklisted')
  }
})
