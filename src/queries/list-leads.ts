// GET /user/leads
import Type from 'typebox'
import { LeadAnswer, describeLead } from '../domain/lead/summary.js'
import { Id, inWords } from '../domain/json.js'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { lead } from '../http/docs/examples.js'
import { dateRange, earliest, latest } from '../http/input/day-or-instant.js'
import { PageOf, Paging } from '../http/lists/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const paging = new Paging('leads', 15, ['time', 'whole'])

const schema = {
  operationId: 'listLeads',
  summary: 'List your leads',
  description: 'Newest first, each with its secondary contacts.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({
    campaign_id: Type.Optional(Id({ description: 'Only those of this campaign.' })),
    status: Type.Optional(LeadAnswer.properties.status),
    phone_number: Type.Optional(Type.String({
      // The plus sign of a query string that is not percent-encoded arrives as a space.
      pattern: '^[+ ]?[1-9]\\d{0,14}$',
      description: 'The beginning of the phone number, with or without its plus sign.',
      examples: ['+1555'],
      ...inWords('must be the beginning of a phone number, such as +1555')
    })),
    ...dateRange('created'),
    ...paging.parameters
  }),
  response: { 200: answered('The page that was asked for.', PageOf(LeadAnswer), page(15, lead)), ...readErrors }
}

export function listLeads (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/leads', { schema, ...reading('leads', readPositions, paging) }, async ({ user, query }) => {
    const { items, ...place } = await readModel.findLeads({
      userId: user.id,
      campaignId: query.campaign_id,
      status: query.status,
      phonePrefix: query.phone_number?.replace(/^[+ ]?/, '+'),
      createdFrom: earliest(query.date_from),
      createdTo: latest(query.date_to)
    }, paging.requested(query))
    const leads = items.map(({ lead, campaignName }) => describeLead(lead, campaignName))
    return paging.answer(query, { items: leads, ...place })
  })
}
