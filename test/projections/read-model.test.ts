// How calls move a lead that readers see, and the name of its campaign.
import t from 'tap'
import { findCampaign } from '../../projections/catalog.js'
import { findLead, findLeads } from '../../projections/find-leads.js'
import { leads } from '../../projections/leads.js'
import { assistantCreated, campaign, leadCreated, logOf } from '../support/events/call-events.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { emptyReadModels, feeding, project } from '../support/projections/projected.js'

const { pool } = await scratchLedger(t)
await emptyReadModels(pool)
const place = logOf()
await project(pool, place([campaign('CampaignCreated', 10, 'Spring'), assistantCreated(1)]))

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
