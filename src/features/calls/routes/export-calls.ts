// GET /user/calls/export
import Type from 'typebox'
import type { CallSummary } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { callSummary } from '../../../http/docs/examples.js'
import { bom, exportAnswer, format, csvExample, sendExport, type Exported } from '../../../http/exports.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import { callFilterOf, callFilters, sourcesOfCalls } from './call-filters.js'
import type { RouteServices } from '../../services.js'

const calls: Exported<CallSummary> = {
  name: 'calls',
  columns: [
    ['call_id', ({ call_id }) => call_id],
    ['assistant_id', ({ assistant_id }) => assistant_id],
    ['lead_id', ({ lead_id }) => lead_id],
    ['primary_lead_id', ({ lead }) => lead?.primary_lead_id],
    ['status', ({ status }) => status],
    ['direction', ({ direction }) => direction],
    ['from', ({ from }) => from],
    ['to', ({ to }) => to],
    ['started_at', ({ started_at }) => started_at],
    ['ended_at', ({ ended_at }) => ended_at],
    ['duration', ({ duration }) => duration]
  ]
}

const schema = {
  operationId: 'exportCalls',
  summary: 'Export the calls of your assistants',
  description: 'All that fit the filters, by id, as they were at one instant; what each call was about is asked for by ' +
    'its id. In CSV, what a spreadsheet would take for a formula begins with an apostrophe.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ format, bom, ...callFilters }),
  response: { 200: exportAnswer('The calls.', calls.name, csvExample(calls, callSummary)), ...readErrors }
}

export function exportCalls (app: App, { readModel, readPositions }: RouteServices): void {
  const options = { schema, ...reading(sourcesOfCalls, readPositions, undefined, 'export') }
  app.get('/user/calls/export', options, async (request, reply) => {
    const { user, query } = request
    return await sendExport(request, reply, query, calls, (visit, signal) =>
      readModel.eachCall(callFilterOf(user.id, query), visit, signal))
  })
}
