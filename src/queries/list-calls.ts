// GET /user/calls
import Type from 'typebox'
import { CallSummary } from '../domain/call/summary.js'
import { Id } from '../domain/json.js'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { dateRange, earliest, latest } from '../http/input/day-or-instant.js'
import { PageOf, Paging } from '../http/lists/paging.js'
import { callSummary, page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const paging = new Paging('calls', 15, ['time', 'whole'])

const schema = {
  operationId: 'listCalls',
  summary: 'List the calls of your assistants',
  description: 'Those that ended last first.',
  tags: ['calls'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({
    assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
    lead_id: Type.Optional(Id({ description: 'Only those to this lead or secondary contact.' })),
    status: Type.Optional(CallSummary.properties.status),
    ...dateRange('ended'),
    ...paging.parameters
  }),
  response: { 200: answered('The page that was asked for.', PageOf(CallSummary), page(15, callSummary)), ...readErrors }
}

export function listCalls (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/calls', { schema, ...reading('calls', readPositions, paging) }, async ({ user, query }) => {
    const { assistant_id, lead_id, status, date_from, date_to } = query
    return paging.answer(query, await readModel.findCalls({
      userId: user.id,
      assistantId: assistant_id,
      leadId: lead_id,
      status,
      endedFrom: earliest(date_from),
      endedTo: latest(date_to)
    }, paging.requested(query)))
  })
}
