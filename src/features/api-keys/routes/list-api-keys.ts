// GET /user/api-keys
import Type from 'typebox'
import { ApiKeyItem } from '../summary.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { apiKeyItem, page } from '../../../http/docs/examples.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { RouteServices } from '../../services.js'

const paging = new Paging('api-keys', 100, ['whole'])

const schema = {
  operationId: 'listApiKeys',
  summary: 'List your API keys',
  description: 'Newest first, without those that were revoked. This needs a token, not a key.',
  tags: ['account'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging.parameters),
  response: { 200: answered('The page that was asked for.', PageOf(ApiKeyItem), page(100, apiKeyItem)), ...readErrors }
}

export function listApiKeys (app: App, { readModel, readPositions }: RouteServices): void {
  const options = { schema, ...reading('keys', readPositions, paging), config: { isClosedToKeys: true } }
  app.get('/user/api-keys', options, async ({ user, query }) =>
    paging.answer(query, await readModel.findApiKeys(user.id, paging.requested(query))))
}
