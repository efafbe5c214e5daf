// GET /user/assistants/models
import Type from 'typebox'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { PageOf, answerPage, asked, paging } from '../http/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'listModels',
  summary: 'List the LLM models',
  description: 'By name; an assistant may use others as well.',
  tags: ['catalog'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging(100)),
  response: {
    200: answered('The page that was asked for.', PageOf(Type.Object({ name: Type.String({ description: 'The llm_model of an assistant.', examples: ['gpt-4o'] }) })), page(100, { name: 'gpt-4o' })),
    ...readErrors
  }
}

export function listModels (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/assistants/models', { schema, ...reading('catalog', readPositions) }, async ({ query }) => answerPage(query, await readModel.findModels(asked(query))))
}
