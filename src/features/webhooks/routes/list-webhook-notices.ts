// GET /user/webhook-notices
import Type from 'typebox'
import { Notice } from '../notice.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { notice, page } from '../../../http/docs/examples.js'
import { PageOf, Paging, type Found, type RequestedPage } from '../../../http/lists/paging.js'
import { readErrors, readHeaders, reading, type ReadPositions } from '../../../http/read-position.js'

export interface ListNoticesDeps {
  readPositions: ReadPositions
  /** A page of the user's notices, newest first. */
  listNotices (userId: string, page: RequestedPage): Promise<Found<Notice>>
}

const paging = new Paging('webhook-notices', 15, ['whole'])

const schema = {
  operationId: 'listWebhookNotices',
  summary: 'List what went wrong with your webhooks',
  description: 'Newest first: an endpoint that began to fail or was suspended, and each delivery that was given up. ' +
    'Kept for 90 days.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object(paging.parameters),
  response: { 200: answered('The page that was asked for.', PageOf(Notice), page(15, notice)), ...readErrors }
}

export function listWebhookNotices (app: App, { listNotices, readPositions }: ListNoticesDeps): void {
  const options = { schema, ...reading('deliveries', readPositions, paging) }
  app.get('/user/webhook-notices', options, async ({ user, query }) =>
    paging.answer(query, await listNotices(user.id, paging.requested(query))))
}
