// GET /user/campaigns
import Type from 'typebox'
import { Id } from '../domain/json.js'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { PageOf, answerPage, asked, paging } from '../http/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'listCampaigns',
  summary: 'List your campaigns',
  description: 'Newest first.',
  tags: ['catalog'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging(100)),
  response: {
    200: answered('The page that was asked for.', PageOf(Type.Object({ id: Id({ description: 'The campaign_id of a lead.' }), name: Type.String({ examples: ['Spring renewals'] }) })), page(100, { id: 1, name: 'Spring renewals' })),
    ...readErrors
  }
}

export function listCampaigns (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/campaigns', { schema, ...reading('catalog', readPositions) }, async ({ user, query }) => answerPage(query, await readModel.findCampaigns(user.id, asked(query))))
}
