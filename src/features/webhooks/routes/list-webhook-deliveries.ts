// GET /user/webhook-deliveries
import Type from 'typebox'
import { DeliverySummary } from '../delivery.js'
import { CallId } from '../../calls/events.js'
import { Id } from '../../../domain/json.js'
import type { App } from '../../../http/app-types.js'
import { answered } from '../../../http/docs/describe.js'
import { dateRange, earliest, latest } from '../../../http/input/day-or-instant.js'
import { PageOf, Paging, type Found, type RequestedPage } from '../../../http/lists/paging.js'
import { deliverySummary, page } from '../../../http/docs/examples.js'
import { readErrors, readHeaders, reading, type ReadPositions } from '../../../http/read-position.js'

interface Filter {
  userId: string
  assistantId?: number | undefined
  callId?: string | undefined
  status?: DeliverySummary['status'] | undefined
  createdFrom?: string | undefined
  createdTo?: string | undefined
}

export interface ListDeliveriesDeps {
  readPositions: ReadPositions
  /** A page of the user's deliveries, newest first. */
  listDeliveries (filter: Filter, page: RequestedPage): Promise<Found<DeliverySummary>>
}

const paging = new Paging('webhook-deliveries', 15, ['time', 'uuid'])

const schema = {
  operationId: 'listWebhookDeliveries',
  summary: 'List your webhook deliveries',
  description: 'Newest first, without their attempts. One for each call of your assistants, ' +
    'also for those that are not sent, and one for each test.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  querystring: Type.Object({
    assistant_id: Type.Optional(Id({ description: 'Only those of this assistant.' })),
    call_id: Type.Optional(Type.String({ ...CallId, description: 'Only that of this call.' })),
    status: Type.Optional(DeliverySummary.properties.status),
    ...dateRange('made'),
    ...paging.parameters
  }),
  response: {
    200: answered('The page that was asked for.', PageOf(DeliverySummary), page(15, deliverySummary)),
    ...readErrors
  }
}

export function listWebhookDeliveries (app: App, { listDeliveries, readPositions }: ListDeliveriesDeps): void {
  const options = { schema, ...reading('deliveries', readPositions, paging) }
  app.get('/user/webhook-deliveries', options, async ({ user, query }) => {
    const { assistant_id: assistantId, call_id: callId, status, date_from: from, date_to: to } = query
    const times = { createdFrom: earliest(from), createdTo: latest(to) }
    const filter = { userId: user.id, assistantId, callId, status, ...times }
    return paging.answer(query, await listDeliveries(filter, paging.requested(query)))
  })
}
