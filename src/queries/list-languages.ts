// GET /user/assistants/languages
import Type from 'typebox'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { PageOf, answerPage, asked, paging } from '../http/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'listLanguages',
  summary: 'List the languages',
  description: 'By name; every user may choose from them.',
  tags: ['catalog'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging(100)),
  response: {
    200: answered('The page that was asked for.', PageOf(Type.Object({ name: Type.String({ description: 'The language of an assistant.', examples: ['English'] }) })), page(100, { name: 'English' })),
    ...readErrors
  }
}

export function listLanguages (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/assistants/languages', { schema, ...reading('catalog', readPositions) }, async ({ query }) => answerPage(query, await readModel.findLanguages(asked(query))))
}
