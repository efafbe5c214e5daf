// What the API document says of the webhook: its body, its headers, and how the answer of a receiver is taken.
import type { TSchema } from 'typebox'
import { WebhookPayload, WebhookTest } from '../../features/webhooks/payload.js'
import { deliveryId, webhookPayload, webhookTest } from './examples.js'

const header = (name: string, description: string, example: string | number) => {
  const schema = { type: typeof example === 'number' ? 'integer' as const : 'string' as const }
  return { in: 'header' as const, name, required: true, description, schema, example }
}

const description = [
  "Sent to the assistant's `webhook_url` after each call while `is_webhook_active` is true; only for completed calls",
  'with `send_webhook_only_on_completed`. Signed as [Standard Webhooks](https://www.standardwebhooks.com) describes,',
  'with the secret of `GET /user/webhook-secret`: verify `webhook-signature` over the raw body before you trust it.',
  '',
  'Answer 2xx within 15 seconds. Anything else is tried again, 10 times over three days. A webhook can arrive more than',
  'once and late: `webhook-id` stays the same over all tries, so use it to recognise what you have seen.'
].join('\n')

const testDescription = [
  'Sent by `POST /user/assistant/{id}/webhook-test`, with the headers and the signature of every other webhook, so that',
  'a receiver can be tried before the first call. Answer 2xx; there is nothing to be done with it.'
].join('\n')

const signed = 'One or more signatures separated by spaces: `v1,` and the Base64 of HMAC-SHA256 over ' +
  '`webhook-id.webhook-timestamp.body`.'

const parameters = [
  header('webhook-id', 'The delivery, the same over all tries.', deliveryId),
  header('webhook-timestamp',
    'When this try was signed, in seconds since 1970. Refuse what is more than five minutes off.', 1769860873),
  header('webhook-signature', signed, 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4='),
  header('webhook-attempt', 'Number of this try, from 1. Those that somebody asked for are numbered apart.', 1)
]
const delivered = { description: 'Delivered. The body is not needed.' }
const body = (schema: TSchema, value: WebhookPayload | WebhookTest) =>
  ({ required: true, content: { 'application/json': { schema, example: value } } })

/** Of the section alone: a generator writes the operations of a tag into one file, and those of paths into another. */
export const webhooksTag = { name: 'webhook events', description: 'What is sent to your receivers' }

/** OpenAPI's `webhooks`. */
export const webhooks = {
  'call.completed': {
    post: {
      operationId: 'callCompleted',
      summary: 'A call has ended',
      description,
      tags: [webhooksTag.name],
      security: [],
      parameters,
      requestBody: body(WebhookPayload, webhookPayload),
      responses: {
        '2XX': delivered,
        410: { description: 'The receiver is gone: this delivery is cancelled, and the URL is suspended.' },
        429: { description: 'Tried again after 60 seconds at least, or after `Retry-After`.' },
        default: { description: 'Tried again later. Redirects are not followed.' }
      }
    }
  },
  'webhook.test': {
    post: {
      operationId: 'webhookTest',
      summary: 'A test of the webhook',
      description: testDescription,
      tags: [webhooksTag.name],
      security: [],
      parameters,
      requestBody: body(WebhookTest, webhookTest),
      responses: {
        '2XX': delivered,
        default: { description: 'Shown with the delivery; not tried again. Redirects are not followed.' }
      }
    }
  }
}
