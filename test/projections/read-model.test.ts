// Readers get their own data, as it was written, and nothing of other users.
import t from 'tap'
import { findAssistant } from '../../projections/assistants.js'
import { findCampaign, lookUpCatalog } from '../../projections/catalog.js'
import { findLead, findLeadOwner, findLeads, findLeadToChange } from '../../projections/find-leads.js'
import { leads } from '../../projections/leads.js'
import {
  assistantCreated, assistantUpdated, callCompleted, campaign, leadCreated, logOf, settings, type Told
} from '../support/events/call-events.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { emptyReadModels, feeding, project } from '../support/projections/projected.js'

const { pool } = await scratchLedger(t)
const odd = { 'zeta "quoted" {,}\\': null, alpha: [1.5, 'Grüezi 👋', '\u0001'], b: {} }

await emptyReadModels(pool)
const place = logOf()
await project(pool, place([
  { stream: 'catalog-voices', type: 'VoiceAdded', data: { id: 1, name: 'Nova' } },
  { stream: 'catalog-languages', type: 'LanguageAdded', data: { name: 'English' } },
  { stream: 'catalog-models', type: 'ModelAdded', data: { name: 'gpt-4o' } },
  {
    stream: 'phonenumber-1',
    type: 'PhoneNumberAdded',
    data: { phone_number_id: 1, user_id: '1', phone_number: '+15551230009' }
  },
  campaign('CampaignCreated', 10, 'Spring'),
  campaign('CampaignRenamed', 10, 'Summer'),
  assistantCreated(1),
  assistantUpdated(1, { variables: odd }),
  leadCreated(5, 10, [9, 7, 8]),
  callCompleted('a', { lead_id: 7, lead_status: 'rescheduled' })
] satisfies Told[]))

t.test('an assistant has its settings as written, at the revision of its last event, for its owner only', async (t) => {
  t.strictSame(await findAssistant(pool, '1', 1), {
    assistant_id: 1,
    user_id: '1',
    status: 'active',
    settings: settings(
      { variables: odd }
    ),
    created_at: '2026-01-31T12:00:00.000Z',
    updated_at: '2026-01-31T12:00:00.000Z',
    revision: 1
  })
  t.equal(
    JSON.stringify((await findAssistant(pool, '1', 1))?.settings.variables), JSON.stringify(odd), 'keys keep their order'
  )
  for (const [user, id] of [['2', 1], ['1', 2], ['', 1]] as const) {
    t.equal(await findAssistant(pool, user, id), undefined)
  }
})

t.test('a lead has its contacts in their order, each with its status, and the present name of its campaign', async (t) => {
  const found = await findLead(pool, '1', 5)
  t.equal(found?.campaignName, 'Summer')
  t.match(found?.lead, {
    id: 5,
    status: 'created',
    campaign_id: 10,
    variables: { zeta: 1, customer_name: 'Ada Example' },
    created_at: '2026-01-31T12:00:00.000Z'
  })
  t.strictSame(found?.lead.secondary_contacts.map(({ id, status, updated_at }) => [id, status, updated_at]), [
    [9, 'created', '2026-01-31T12:00:00.000Z'], [7, 'rescheduled', '2026-01-31T12:01:02.345Z'], [
      8, 'created', '2026-01-31T12:00:00.000Z'
    ]
  ])
})

t.test('a lead is moved by its latest call, never off the blacklist, and its time of change never goes back', async (t) => {
  const feed = await feeding(leads, pool)
  const report = (callId: string, minute: number, created: string, given: object) =>
    ({ ...callCompleted(callId, { lead_id: 20, ended_at: `2026-01-31T13:0${minute}:00Z`, ...given }), created: new Date(created) })
  const standing = async () => {
    const { status, updated_at } = (await findLead(pool, '1', 20))?.lead ?? {}
    return [status, updated_at]
  }
  await feed.batch(place([
    leadCreated(20, 10), report('b', 5, '2026-01-31T14:00:00.500Z', { lead_status: 'rescheduled' })
  ]))
  t.strictSame(await standing(), ['rescheduled', '2026-01-31T14:00:00.500Z'])
  await feed.batch(place([report('c', 4, '2026-01-31T14:01:00Z', { lead_status: 'blacklisted' })]))
  t.strictSame(await standing(), ['rescheduled', '2026-01-31T14:00:00.500Z'], 'an older call')
  await feed.batch(place([report('d', 6, '2026-01-31T13:59:00Z', { lead_status: 'blacklisted' })]))
  t.strictSame(await standing(), ['blacklisted', '2026-01-31T14:00:00.500Z'], 'recorded by a clock that is behind')
  await feed.batch(place([report('e', 7, '2026-01-31T15:00:00Z', { lead_status: 'scheduled' })]))
  t.strictSame(await standing(), ['blacklisted', '2026-01-31T14:00:00.500Z'], 'a later call')
})

t.test('a secondary contact leads to its lead, to be read and not to be changed; other users find neither', async (t) => {
  t.strictSame(await findLead(pool, '1', 7), await findLead(pool, '1', 5))
  for (const [user, id] of [['2', 7], ['2', 5], ['1', 6]] as const) t.equal(await findLead(pool, user, id), undefined)
  for (const [user, id] of [['1', 7], ['2', 5], ['1', 6]] as const) {
    t.equal(await findLeadToChange(pool, user, id), undefined)
  }
  t.match(await findLeadToChange(pool, '1', 5), { lead: { id: 5 }, stream: 'lead-10-5' })
  t.equal(await findLeadOwner(pool, 7), '1')
  t.equal(await findLeadOwner(pool, 6), undefined)
})

t.test('a lead and the name of its campaign are of one position, wherever the catalogue is', async (t) => {
  const feed = await feeding(leads, pool)
  await feed.batch(place([
    campaign('CampaignCreated', 11, 'Early'), leadCreated(15, 11), campaign('CampaignRenamed', 11, 'Late')
  ]))
  t.equal((await findLead(pool, '1', 15))?.campaignName, 'Late')
  const { items } = await findLeads(pool, { userId: '1', campaignId: 11 }, { page: 1, perPage: 10 })
  t.strictSame(items.map(({ campaignName }) => campaignName), ['Late'])
  t.equal(await findCampaign(pool, '1', 11), undefined, 'the catalogue has not heard of it')
})

t.test('the catalogue answers what exists and what the user owns, and false where nothing was asked', async (t) => {
  t.strictSame(await lookUpCatalog(pool, { userId: '1', voiceId: 1, language: 'English', phoneNumberId: 1 }), {
    voiceExists: true, languageExists: true, ownsPhoneNumber: true
  })
  t.strictSame(await lookUpCatalog(pool, { userId: '2', voiceId: 2, language: 'english', phoneNumberId: 1 }), {
    voiceExists: false, languageExists: false, ownsPhoneNumber: false
  })
  t.strictSame(await lookUpCatalog(pool, { userId: '1' }), {
    voiceExists: false, languageExists: false, ownsPhoneNumber: false
  })
  t.match(await findCampaign(pool, '1', 10), { name: 'Summer', revision: 1 })
  t.equal(await findCampaign(pool, '2', 10), undefined)
})
