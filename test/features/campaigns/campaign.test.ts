// Names of campaigns, and what an import makes of those that there are.
import t from 'tap'
import { CampaignBody, campaignDecider, importedCampaignDecider, nameIn } from '../../../src/features/campaigns/model.js'
import type { CampaignEvent } from '../../../src/features/campaigns/events.js'
import { invalid, scenarios, submitting } from '../../support/commands/given.js'

const now = '2026-02-01T12:00:00.000Z'
const ids = { campaign_id: 7, user_id: '1' }

type Source = 'user' | 'import'
const created = (name: string, source: Source = 'user'): CampaignEvent =>
  ({ type: 'CampaignCreated', data: { ...ids, name, source, created_at: now } })
const renamed = (name: string, source: Source = 'user'): CampaignEvent =>
  ({ type: 'CampaignRenamed', data: { ...ids, name, source, renamed_at: now } })
const deleted: CampaignEvent = { type: 'CampaignDeleted', data: { ...ids, deleted_at: now } }

const given = scenarios(campaignDecider)
const create = (name: string) => () =>
  ({ type: 'create' as const, name: nameIn({ body: { name } }), ids: [7], userId: '1', now })
const rename = (name: string) => () =>
  ({ type: 'rename' as const, name: nameIn({ body: { name } }), userId: '1', now })

const imported = scenarios(importedCampaignDecider)
const catalog = (name: string, user_id = '1') => ({ campaign_id: 7, user_id, name, now })

t.test('a name has 1 to 255 characters, some of which show', async (t) => {
  const named = submitting(CampaignBody, () => ({}), nameIn)
  t.same(named({ name: 'x'.repeat(255) }), { made: 'x'.repeat(255) })
  for (const body of [{}, { name: '' }, { name: 'x'.repeat(256) }, { name: 1 }, { name: null }]) {
    t.match(named(body), { errors: { name: Array } }, JSON.stringify(body).slice(0, 20))
  }
  for (const name of [' ', '\u200b', '\u00a0']) {
    given([]).when(create(name)).then(t, invalid({ name: ['must not be blank'] }))
    given([created('Spring')]).when(rename(name)).then(t, invalid({ name: ['must not be blank'] }))
  }
})

t.test('the same name again changes nothing', async (t) => {
  given([created('Spring')]).when(rename('Summer')).then(t, [renamed('Summer')])
  given([created('Spring'), renamed('Summer')]).when(rename('Summer')).then(t, [])
})

t.test('an import creates a campaign, and changes only what differs from the import before it', async (t) => {
  const [before, mine] = [created('Spring', 'import'), renamed('Mine')]
  for (const [events, name, expected] of [
    [[], 'Spring', [before]], [[before], 'Spring', []], [[before], 'Summer', [renamed('Summer', 'import')]],
    [[before, mine], 'Spring', []], [[before, mine], 'Autumn', [renamed('Autumn', 'import')]],
    [[before, mine, renamed('Autumn', 'import'), mine], 'Autumn', []],
    // a name that it gives for the first time is written down, also where it is the present one
    [[created('Spring')], 'Spring', [renamed('Spring', 'import')]],
    [[created('Spring'), renamed('Spring', 'import'), mine], 'Spring', []]
  ] as const) imported([...events]).when(catalog(name)).then(t, [...expected])
})

t.test('an import gives no campaign to another user, and brings none back that its user deleted', async (t) => {
  imported([created('Spring', 'import')]).when(catalog('Spring', '2')).then(t, { code: 'catalog-conflict' })
  for (const name of ['Spring', 'Autumn']) {
    imported([created('Spring', 'import'), deleted]).when(catalog(name)).then(t, [])
  }
})
