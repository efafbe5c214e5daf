// How calls move a lead that readers see, and the name of its campaign.
import t from 'tap'
import { findCall } from '../../projections/calls.js'
import { findCampaign } from '../../projections/catalog.js'
import { findLead, findLeads } from '../../projections/find-leads.js'
import { leads } from '../../projections/leads.js'
import { assistantCreated, callCompleted, campaign, leadCreated, leadDeleted, logOf } from '../support/events/call-events.js'
import { scratchLedger } from '../support/postgres/ledger.js'
import { emptyReadModels, feeding, parkedEvents, project, rowsOf } from '../support/projections/projected.js'

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

t.test('a call moves leads of its user alone, once and not when they are deleted; another stream may not have its id', async (t) => {
  await project(pool, place([
    assistantCreated(2, {}, '2'), leadCreated(30, 10, [31]), leadCreated(40, 10), leadCreated(50, 10),
    callCompleted('theirs', { assistant_id: 2, lead_id: 30 }), callCompleted('of-contact', { lead_id: 31 }),
    callCompleted('again', { lead_id: 40, lead_status: 'rescheduled' }), callCompleted('again', { lead_id: 40 }),
    leadDeleted(50, 10), callCompleted('late', { lead_id: 50 }), { ...leadCreated(40, 10), stream: 'lead-10-other' }
  ]))
  const rows = await rowsOf(pool, leads)
  t.strictSame([30, 31, 40, 50].map((id) => rows.get(id)?.status), ['created', 'completed', 'rescheduled', 'deleted'])
  t.match(await parkedEvents(pool, leads), [{ stream: 'lead-10-other', error: /^lead id 40 already belongs/ }])
  t.match(await findCall(pool, '2', 'theirs'), { summary: { lead: null } })
  t.match(await findCall(pool, '1', 'of-contact'), { summary: { lead: { id: 31, primary_lead_id: 30 } } })
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
