// GET /user/webhook-deliveries/{id}
import { DeliveryDetails } from '../delivery.js'
import { Rejection } from '../../../domain/rejection.js'
import type { App } from '../../../http/app-types.js'
import { answered, One, refusal } from '../../../http/docs/describe.js'
import { deliveryPath } from '../../../http/path-id.js'
import { deliveryDetails } from '../../../http/docs/examples.js'
import { itemErrors, readHeaders, reading, type ReadPositions } from '../../../http/read-position.js'

export interface GetDeliveryDeps {
  readPositions: ReadPositions
  /** The user's delivery with its newest attempts and what was sent last. */
  findDelivery (userId: string, id: string): Promise<DeliveryDetails | undefined>
}

const schema = {
  operationId: 'getWebhookDelivery',
  summary: 'Get a webhook delivery',
  description: 'With its newest 50 attempts, oldest first, those that wait for their turn included, and the request ' +
    'of the newest one that was made.',
  tags: ['webhooks'],
  security: [{ bearer: [] }],
  headers: readHeaders,
  params: deliveryPath,
  response: {
    200: answered('The delivery.', One(DeliveryDetails), { data: deliveryDetails }),
    ...itemErrors,
    404: refusal('Delivery not found or does not belong to the authenticated user')
  }
}

export function getWebhookDelivery (app: App, { findDelivery, readPositions }: GetDeliveryDeps): void {
  const options = { schema, ...reading('deliveries', readPositions) }
  app.get('/user/webhook-deliveries/:id', options, async ({ user, params: { id } }) => {
    const data = await findDelivery(user.id, id)
    if (!data) throw new Rejection('not-found', 'Delivery not found or does not belong to the authenticated user')
    return { data }
  })
}
