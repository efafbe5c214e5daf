// GET /user/blacklist
import Type from 'typebox'
import { EntryAnswer } from '../entry.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { blacklistEntry, page } from '../../../http/docs/examples.js'
import { earliest } from '../../../http/input/day-or-instant.js'
import { PageOf, Paging } from '../../../http/lists/paging.js'
import { beginningOf, numberSearch, updatedFrom } from '../../../http/lists/search.js'
import { readErrors, readHeaders, reading } from '../../../http/read-position.js'
import type { RouteServices } from '../../services.js'

const paging = new Paging('blacklist', 100, ['whole'])

const schema = {
  operationId: 'listBlacklist',
  summary: 'List the phone numbers that you do not want called',
  description: 'Newest first.',
  tags: ['do not call'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({ ...numberSearch, ...updatedFrom, ...paging.parameters }),
  response: {
    200: answered('The page that was asked for.', PageOf(EntryAnswer), page(100, blacklistEntry)), ...readErrors
  }
}

export function listBlacklist (app: App, { readModel, readPositions }: RouteServices): void {
  app.get('/user/blacklist', { schema, ...reading('leads', readPositions, paging) }, async ({ user, query }) => {
    const { search, updated_from } = query
    const filter = { userId: user.id, searched: beginningOf(search), updatedFrom: earliest(updated_from) }
    return paging.answer(query, await readModel.findBlacklist(filter, paging.requested(query)))
  })
}
