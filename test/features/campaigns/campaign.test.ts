// What creating, renaming, deleting and importing a campaign leads to.
import t from 'tap'
import { CampaignBody, campaignDecider, importedCampaignDecider, nameIn } from '../../../src/features/campaigns/model.js'
import type { CampaignEvent } from '../../../src/features/campaigns/events.js'
import { invalid, scenarios, submitting } from '../../support/commands/given.js'

const now = '2026-02-01T12:00:00.000Z'
const ids = { campaign_id: 7, user_id: '1' }
const unowned = { code: 'not-found' as const }

type Source = 'user' | 'import'
const created = (name: string, source: Source = 'user'): CampaignEvent =>
  ({ type: 'CampaignCreated', data: { ...ids, name, source, created_at: now } })
const renamed = (name: string, source: Source = 'user'): CampaignEvent =>
  ({ type: 'CampaignRenamed', data: { ...ids, name, source, renamed_at: now } })
const deleted: CampaignEvent = { type: 'CampaignDeleted', data: { ...ids, deleted_at: now } }

const given = scenarios(campaignDecider)
const create = (name: string) => () =>
  ({ type: 'create' as const, name: nameIn({ body: { name } }), ids: [7], userId: '1', now })
const rename = (name: string, userId = '1') => () =>
  ({ type: 'rename' as const, name: nameIn({ body: { name } }), userId, now })
const remove = (userId = '1') => ({ type: 'delete' as const, userId, now })

const imported = scenarios(importedCampaignDecider)
const catalog = (name: string, user_id = '1') => ({ campaign_id: 7, user_id, name, now })

t.test('a campaign is created under its id, once', async (t) => {
  given([]).when(create('Spring')).then(t, [created('Spring')])
  given([created('Spring')]).when(create('Spring')).then(t, { code: 'id-taken' })
  given([created('Spring'), deleted]).when(create('Spring')).then(t, { code: 'id-taken' })
})

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

t.test('what was deleted, or is another user’s, is not found', async (t) => {
  given([created('Spring')]).when(remove()).then(t, [deleted])
  for (const command of [remove(), rename('Summer')]) given([created('Spring'), deleted]).when(command).then(t, unowned)
  for (const command of [remove('2'), rename('Summer', '2')]) given([created('Spring')]).when(command).then(t, unowned)
})

t.test('an import creates a campaign, renames it, and gives it to no other user', async (t) => {
  imported([]).when(catalog('Spring')).then(t, [created('Spring', 'import')])
  imported([created('Spring', 'import')]).when(catalog('Spring')).then(t, [])
  imported([created('Spring', 'import')]).when(catalog('Summer')).then(t, [renamed('Summer', 'import')])
  imported([created('Spring', 'import')]).when(catalog('Spring', '2')).then(t, { code: 'catalog-conflict' })
})

t.test('an import changes only what differs from the import before it', async (t) => {
  const before = [created('Spring', 'import'), renamed('Mine')]
  imported(before).when(catalog('Spring')).then(t, [])
  imported(before).when(catalog('Autumn')).then(t, [renamed('Autumn', 'import')])
  imported([...before, renamed('Autumn', 'import'), renamed('Mine')]).when(catalog('Autumn')).then(t, [])
})

t.test('a name that the import gives for the first time is written down, also where it is the present one', async (t) => {
  imported([created('Spring')]).when(catalog('Spring')).then(t, [renamed('Spring', 'import')])
  imported([created('Spring'), renamed('Spring', 'import'), renamed('Mine')]).when(catalog('Spring')).then(t, [])
})

t.test('no import brings back what its user deleted', async (t) => {
  for (const name of ['Spring', 'Autumn']) {
    imported([created('Spring', 'import'), deleted]).when(catalog(name)).then(t, [])
  }
})

t.test('times are those that the events say', async (t) => {
  t.match(given([created('Spring'), { ...deleted, data: { ...deleted.data, deleted_at: '2026-02-02T12:00:00.000Z' } }]).state(), {
    created_at: now, updated_at: '2026-02-02T12:00:00.000Z', isDeleted: true
  })
})
