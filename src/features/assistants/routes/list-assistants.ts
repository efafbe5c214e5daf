// GET /user/assistants
import Type from 'typebox'
import { AssistantSummary } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { assistantSummary, page } from '../../../http/docs/examples.js'
import { earliest } from '../../../http/input/day-or-instant.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { updatedFromAlso } from '../../../http/lists/search.js'
import { readErrors, readHeaders, reading, type ReadPositions } from '../../../http/read-position.js'
import type { ReadModel } from '../../../../projections/read-model.js'

export interface ReadDeps {
  readModel: ReadModel
  readPositions: ReadPositions
}

const paging = new Paging('assistants', 10, ['time', 'whole'])

const PartOfName = Type.String({
  minLength: 1, maxLength: 255, description: 'A part of the name; upper and lower case are the same.'
})

const schema = {
  operationId: 'listAssistants',
  summary: 'List your assistants',
  description: 'Newest first.',
  tags: ['assistants'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({
    name: Type.Optional(PartOfName),
    status: Type.Optional(AssistantSummary.properties.status),
    type: Type.Optional(AssistantSummary.properties.type),
    search: Type.Optional({ ...PartOfName, title: 'PartOfName' }),
    ...updatedFromAlso('because their phone number was released'),
    ...paging.parameters
  }),
  response: {
    200: answered('The page that was asked for.', PageOf(AssistantSummary), page(10, assistantSummary)),
    ...readErrors
  }
}

export function listAssistants (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/assistants', { schema, ...reading('assistants', readPositions, paging) }, async ({ user, query }) => {
    const { name, search, status, type, updated_from } = query
    const filter = { userId: user.id, name, searched: search, status, type, updatedFrom: earliest(updated_from) }
    return paging.answer(query, await readModel.findAssistants(filter, paging.requested(query)))
  })
}
