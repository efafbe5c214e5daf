// What the API document says of the webhook: its body, its headers, and how the answer of a receiver is taken.
import { WebhookPayload, WebhookTest } from '../domain/call/webhook-payload.js'
import { webhookPayload, webhookTest } from './examples.js'
import { deliveryId } from './read-examples.js'

const header = (name: string, description: string, example: string | number) =>
  ({ in: 'header' as const, name, required: true, description, schema: { type: typeof example === 'number' ? 'integer' as const : 'string' as const }, example })

const description = `Sent to the assistant's \`webhook_url\` after each call while \`is_webhook_active\` is true; only for completed calls with
\`send_webhook_only_on_completed\`. Signed as [Standard Webhooks](https://www.standardwebhooks.com) describes, with the
secret of \`GET /user/webhook-secret\`: verify \`webhook-signature\` over the raw body before you trust it.

Answer 2xx within 15 seconds. Anything else is tried again, 10 times over three days. A webhook can arrive more than once
and late: \`webhook-id\` stays the same over all tries, so use it to recognise what you have seen.`

const parameters = [
  header('webhook-id', 'The delivery, the same over all tries.', deliveryId),
  header('webhook-timestamp', 'When this try was signed, in seconds since 1970. Refuse what is more than five minutes off.', 1769860873),
  header('webhook-signature', 'One or more signatures separated by spaces: `v1,` and the Base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`.', 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
  header('webhook-attempt', 'Number of this try, from 1. Those that were asked for by hand are numbered apart.', 1)
]

/** OpenAPI's `webhooks`. */
export const webhooks = {
  'call.completed': {
    post: {
      operationId: 'callCompleted',
      summary: 'A call has ended',
      description,
      tags: ['webhooks'],
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: WebhookPayload, example: webhookPayload } } },
      responses: {
        '2XX': { description: 'Delivered. The body is not needed.' },
        410: { description: 'The receiver is gone: this delivery is cancelled, and the URL is suspended.' },
        429: { description: 'Tried again after 60 seconds at least, or after `Retry-After`.' },
        default: { description: 'Tried again later. Redirects are not followed.' }
      }
    }
  },
  'webhook.test': {
    post: {
      operationId: 'webhookTest',
      summary: 'Somebody asked for a test',
      description: 'Sent by `POST /user/assistant/{id}/webhook-test`, once, and signed like any other.',
      tags: ['webhooks'],
      security: [],
      parameters,
      requestBody: { required: true, content: { 'application/json': { schema: WebhookTest, example: webhookTest } } },
      responses: { '2XX': { description: 'The test has succeeded.' }, default: { description: 'The test has failed; nothing else comes of it.' } }
    }
  }
}
