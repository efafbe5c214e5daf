// GET /user/blacklist
import Type from 'typebox'
import { EntryAnswer } from '../../domain/blacklist/entry.js'
import type { App } from '../../http/app-types.js'
import { answered } from '../../http/docs/describe.js'
import { blacklistEntry } from '../../http/docs/examples.js'
import { page } from '../../http/docs/read-examples.js'
import { PageOf, Paging } from '../../http/lists/paging.js'
import { readErrors, readHeaders, reading } from '../../http/read-position.js'
import type { ReadDeps } from '../list-assistants.js'

const paging = new Paging('blacklist', 100, ['whole'])

const schema = {
  operationId: 'listBlacklist',
  summary: 'List the phone numbers that you do not want called',
  description: 'Newest first.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging.parameters),
  response: {
    200: answered('The page that was asked for.', PageOf(EntryAnswer), page(100, blacklistEntry)), ...readErrors
  }
}

export function listBlacklist (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/blacklist', { schema, ...reading('leads', readPositions, paging) }, async ({ user, query }) =>
    paging.answer(query, await readModel.findBlacklist(user.id, paging.requested(query))))
}
