// GET /user/leads
import Type from 'typebox'
import { LeadAnswer, describeLead } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { lead, page } from '../../../http/docs/examples.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import { leadFilterOf, leadFilters } from './lead-filters.js'
import type { ReadDeps } from '../../assistants/routes/list-assistants.js'

const paging = new Paging('leads', 15, ['time', 'whole'])

const schema = {
  operationId: 'listLeads',
  summary: 'List your leads',
  description: 'Newest first, each with its secondary contacts.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ ...leadFilters, ...paging.parameters }),
  response: { 200: answered('The page that was asked for.', PageOf(LeadAnswer), page(15, lead)), ...readErrors }
}

export function listLeads (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/leads', { schema, ...reading('leads', readPositions, paging) }, async ({ user, query }) => {
    const { items, ...place } = await readModel.findLeads(leadFilterOf(user.id, query), paging.requested(query))
    const leads = items.map(({ lead, campaignName }) => describeLead(lead, campaignName))
    return paging.answer(query, { items: leads, ...place })
  })
}
