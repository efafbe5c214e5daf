// How calls move a lead that readers see, and the name of its campaign.
import t from 'tap'
import { findCampaign } from '../../projections/catalog.js'
import { findLead, findLeads } from '../../projections/find-leads.js'
import { leads } from '../../projections/leads.js'
import { assistantCreated, callCompleted, campaign, leadCreated, logOf } from '../support/events/call-events.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { emptyReadModels, feeding, project } from '../support/projections/projected.js'

const { pool } = await scratchLedger(t)
await emptyReadModels(pool)
const place = logOf()
await project(pool, place([campaign('CampaignCreated', 10, 'Spring'), assistantCreated(1)]))

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
