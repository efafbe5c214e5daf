// GET /user/leads/export
import Type from 'typebox'
import { describeLead, type LeadAnswer } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { lead } from '../../../http/docs/examples.js'
import { bom, exportAnswer, format, csvExample, sendExport, type Exported } from '../../../http/exports/export-route.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import { leadFilterOf, leadFilters } from './lead-filters.js'
import type { ReadDeps } from '../../assistants/routes/list-assistants.js'

const text = (value: unknown) => typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)

function others ({ variables: { customer_name: _name, email: _email, ...rest } }: LeadAnswer): string {
  return Object.keys(rest).length > 0 ? JSON.stringify(rest) : ''
}

const leads: Exported<LeadAnswer> = {
  name: 'leads',
  columns: [
    ['id', ({ id }) => id],
    ['phone_number', ({ phone_number }) => phone_number],
    ['customer_name', ({ variables }) => text(variables.customer_name)],
    ['email', ({ variables }) => text(variables.email)],
    ['status', ({ status }) => status],
    ['campaign_id', ({ campaign_id }) => campaign_id],
    ['campaign_name', ({ campaign }) => campaign.name],
    ['created_at', ({ created_at }) => created_at],
    ['updated_at', ({ updated_at }) => updated_at],
    ['variables', others],
    ['secondary_contacts', ({ secondary_contacts: contacts }) => contacts.length > 0 ? JSON.stringify(contacts) : '']
  ]
}

const schema = {
  operationId: 'exportLeads',
  summary: 'Export your leads',
  description: 'All that fit the filters, by id, as they were at one instant. In CSV further variables and secondary ' +
    'contacts are JSON in a column each, and what a spreadsheet would take for a formula begins with an apostrophe. ' +
    '`POST /user/leads/import` makes the same leads of it.',
  tags: ['leads'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ format, bom, ...leadFilters }),
  response: { 200: exportAnswer('The leads.', leads.name, csvExample(leads, lead)), ...readErrors }
}

export function exportLeads (app: App, { readModel, readPositions }: ReadDeps): void {
  const options = { schema, ...reading('leads', readPositions, undefined, 'export') }
  app.get('/user/leads/export', options, async (request, reply) => {
    const { user, query } = request
    return await sendExport(request, reply, query, leads, (visit, signal) =>
      readModel.eachLead(leadFilterOf(user.id, query), (found) =>
        visit(found.map((each) => describeLead(each.lead, each.campaignName))), signal))
  })
}
