// GET /user/phone-numbers
import Type from 'typebox'
import { Id, PhoneNumber } from '../domain/json.js'
import type { App } from '../http/app-types.js'
import { answered } from '../http/docs/describe.js'
import { PageOf, answerPage, asked, paging } from '../http/paging.js'
import { page } from '../http/docs/read-examples.js'
import { readErrors, readHeaders, reading } from '../http/read-position.js'
import type { ReadDeps } from './list-assistants.js'

const schema = {
  operationId: 'listPhoneNumbers',
  summary: 'List your phone numbers',
  description: 'Newest first.',
  tags: ['catalog'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging(100)),
  response: {
    200: answered('The page that was asked for.', PageOf(Type.Object({ id: Id({ description: 'The phone_number_id of an assistant.' }), phone_number: PhoneNumber() })), page(100, { id: 1, phone_number: '+15551230001' })),
    ...readErrors
  }
}

export function listPhoneNumbers (app: App, { readModel, readPositions }: ReadDeps): void {
  app.get('/user/phone-numbers', { schema, ...reading('catalog', readPositions) }, async ({ user, query }) => answerPage(query, await readModel.findPhoneNumbers(user.id, asked(query))))
}
