// GET /user/calls
import Type from 'typebox'
import { CallSummary } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { callSummary, page } from '../../../http/docs/examples.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import { callFilterOf, callFilters, sourcesOfCalls } from './call-filters.js'
import type { RouteServices } from '../../services.js'

const paging = new Paging('calls', 15, ['time', 'whole'])

const schema = {
  operationId: 'listCalls',
  summary: 'List the calls of your assistants',
  description: 'Those that ended last first.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ ...callFilters, ...paging.parameters }),
  response: { 200: answered('The page that was asked for.', PageOf(CallSummary), page(15, callSummary)), ...readErrors }
}

export function listCalls (app: App, { readModel, readPositions }: RouteServices): void {
  app.get('/user/calls', { schema, ...reading(sourcesOfCalls, readPositions, paging) }, async ({ user, query }) => {
    return paging.answer(query, await readModel.findCalls(callFilterOf(user.id, query), paging.requested(query)))
  })
}
