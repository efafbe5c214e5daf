// GET /user/assistants/voices
import Type from 'typebox'
import { Id } from '../domain/json.js'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { PageOf, answerPage, asked, paging } from '../http/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'listVoices',
  summary: 'List the voices',
  description: 'By name; every user may choose from them.',
  tags: ['catalog'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging(100)),
  response: {
    200: answered('The page that was asked for.', PageOf(Type.Object({ id: Id({ description: 'The voice_id of an assistant.' }), name: Type.String({ examples: ['Amelia'] }) })), page(100, { id: 1, name: 'Amelia' })),
    ...readErrors
  }
}

export function listVoices (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/assistants/voices', { schema, ...reading('catalog', readPositions) }, async ({ query }) => answerPage(query, await readModel.findVoices(asked(query))))
}
