// The API document, made from the schemas that validate, and the page that shows it without the internet.
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { WebhookPayload, WebhookTest } from '../../features/webhooks/payload.js'
import { packageVersion } from '../../package-root.js'
import { pagePolicy } from '../edge.js'
import { etagOf } from '../read-position.js'
import { documented } from './describe.js'
import { apiDocument, asVersion30, originOf } from './document.js'
import { deliveryId, webhookPayload, webhookTest } from './examples.js'

const description = `Voice assistants, leads, and a signed webhook after each call.

Requests carry \`Authorization: Bearer <JWT>\`; the token's \`sub\` is the user, and everybody sees only what is theirs.
Or \`Authorization: Bearer rl_…\`, an API key that its user made, which may do what its scopes say.
Bodies are JSON and are taken as they are: nothing is converted, unknown fields are ignored and named in
\`X-Ignored-Fields\`. A body has at most 512 KiB, and 5,000 values with every object and array and everything in them; the
report of a call has at most 1 MiB and 50,000, an import of leads 2 MiB and 50,000, or it is CSV. Every error is
\`{message}\`, and a 422 names every refused field in \`errors\`; an address that is not there is a 404, and a method
that it does not take a 405 with \`Allow\`. Where an \`Idempotency-Key\` is named below, a request can be repeated safely
with it. A read that sends back the \`X-Read-Position\` of a write shows that write. Where requests of a user are limited, every
answer says in \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` how many are left, as the refusals below
declare it.`

/** For webhooks alone: generators write the operations of a tag into one file, and those of paths into another. */
const webhooksTag = { name: 'webhook events', description: 'What is sent to your receivers' }

const tags = [
  { name: 'assistants', description: 'AI voice assistants that handle phone calls' },
  { name: 'leads', description: 'People to be called, under campaigns' },
  { name: 'campaigns', description: 'What leads are called for' },
  { name: 'phone numbers', description: 'What assistants are called on, and call from' },
  { name: 'do not call', description: 'Phone numbers that you do not want called' },
  { name: 'persons', description: 'What is known of them' },
  { name: 'calls', description: 'What was said, and what became of the webhook' },
  { name: 'catalog', description: 'What there is to choose from' },
  { name: 'webhooks', description: 'Signed notifications after each call' },
  { name: 'account', description: 'Who you are to this service' },
  { name: 'engine', description: 'What the call engine reports' },
  { name: 'operators', description: 'How the service is, and what is done about it' },
  { name: 'health', description: 'Whether a process lives, and can do its work' },
  webhooksTag
]

const bearer = {
  type: 'http' as const,
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A JWT with `exp` and `sub`. Users have no role claim; the call engine has the role `engine`, an operator ' +
    '`ops`.'
}

/** One scheme, not two alternatives: generated clients would send the header for each of them. */
const bearerOrKey = {
  type: 'http' as const,
  scheme: 'bearer',
  description: 'A JWT as in `bearer`, or an API key of `POST /user/api-key`: `rl_…`. Its scope `read` is every GET, `write` ' +
    'every other request; the secrets that sign webhooks are read with `webhooks` or `write`.'
}

/**
 * Serves `/docs`, `/docs/json`, also without the webhooks or as OpenAPI 3.0, and `/docs/yaml`. Register it after the
 * rate limits and before the routes.
 */
export async function addApiDocs (app: FastifyInstance, basePath: string, publicUrl?: string): Promise<void> {
  const origin = originOf(basePath, publicUrl)
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ringledger',
        version: packageVersion,
        description,
        contact: { name: 'Ringledger', ...(publicUrl !== undefined && { url: publicUrl }) },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' }
      },
      servers: [{ url: basePath || '/' }], // the plugin takes it off the paths
      tags,
      components: { securitySchemes: { bearer, bearerOrKey } }
    },
    transform: ({ url, route }) => ({ url, schema: documented(route) }),
    transformObject: (documents) =>
      'openapiObject' in documents ? apiDocument(documents.openapiObject, webhooks, origin) : documents.swaggerObject
  })
  await app.register(async (documents) => {
    documents.addHook('onRequest', async (request, reply) => await app.rateLimits.ofStranger(request, reply))
    documents.addHook('onSend', async (_request, reply, payload) => forPhones(reply, payload))
    servePrepared(documents, `${basePath}/docs`)
    await documents.register(fastifySwaggerUi, {
      routePrefix: `${basePath}/docs`,
      staticCSP: pagePolicy,
      theme: { css: [{ filename: 'own.css', content: ownStyle }] },
      uiConfig: {
        layout: 'BaseLayout',
        docExpansion: 'list',
        displayRequestDuration: true,
        tryItOutEnabled: true,
        defaultModelsExpandDepth: 0
      }
    })
  })
}

/**
 * Hides the select of servers, which has one entry and no label for screen readers, and the column of links, which is
 * empty and too wide for a phone.
 */
const ownStyle = `
.swagger-ui .scheme-container .schemes .schemes-server-container { display: none }
.swagger-ui .responses-table .response-col_links { display: none }`

/** The plugin's page sets no viewport, so a phone would show it as wide as a desktop. */
function forPhones (reply: FastifyReply, payload: unknown): unknown {
  const isPage = String(reply.getHeader('content-type')).startsWith('text/html') && typeof payload === 'string'
  return isPage ? payload.replace('<head>', '<head><meta name="viewport" content="width=device-width, initial-scale=1">') : payload
}

/** Replaces the plugin's handlers, which write the document anew for each request. */
function servePrepared (app: FastifyInstance, prefix: string): void {
  const json = (document: () => object) => prepared('application/json; charset=utf-8', () => JSON.stringify(document()))
  const whole = json(() => app.swagger())
  const withoutWebhooks = json(() => ({ ...app.swagger(), webhooks: undefined }))
  const version30 = json(() => asVersion30(app.swagger()))
  /** Not every generator of clients knows webhooks, or OpenAPI 3.1. */
  const asked = ({ query }: FastifyRequest) => {
    const { openapi, webhooks } = Object(query)
    return openapi === '3.0' ? version30 : webhooks === 'false' ? withoutWebhooks : whole
  }
  const handlers: Record<string, RouteOptions['handler']> = {
    [`${prefix}/json`]: (request, reply) => asked(request)(request, reply),
    [`${prefix}/yaml`]: prepared('application/x-yaml', () => app.swagger({ yaml: true }))
  }
  app.addHook('onRoute', (route) => {
    route.handler = handlers[route.url] ?? route.handler
  })
}

/** A handler that answers with `write()`, called at the first request, when all routes are known. */
function prepared (contentType: string, write: () => string) {
  let bytes: Buffer | undefined
  let etag = ''
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (!bytes) {
      bytes = Buffer.from(write())
      etag = etagOf(bytes)
    }
    reply.headers({ etag, 'cache-control': 'no-cache' }) // may be cached, but is asked for again
    return await reply.type(contentType).send(bytes)
  }
}

// The webhook: its body, its headers, and how the answer of a receiver is taken.

const header = (name: string, description: string, example: string | number) => {
  const schema = { type: typeof example === 'number' ? 'integer' as const : 'string' as const }
  return { in: 'header' as const, name, required: true, description, schema, example }
}

const webhookDescription = [
  "Sent to the assistant's `webhook_url` after each call while `is_webhook_active` is true; only for completed calls",
  'with `send_webhook_only_on_completed`. Signed as [Standard Webhooks](https://www.standardwebhooks.com) describes,',
  'with the secret of `GET /user/webhook-secret`: verify `webhook-signature` over the raw body before you trust it.',
  '',
  'Answer 2xx within 15 seconds. Anything else is tried again, 10 times over three days. A webhook can arrive more than',
  'once and late: `webhook-id` stays the same over all tries, so use it to recognise what you have seen.'
].join('\n')

const testDescription = [
  'Sent by `POST /user/assistant/{id}/webhook-test`, with the headers and the signature of every other webhook, so that',
  'a receiver can be tried before the first call. It has every field of a call, with sample values: answer 2xx, and do',
  'nothing else with it.'
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

const sent = (
  operationId: string, summary: string, description: string, requestBody: ReturnType<typeof body>,
  others: Record<string, { description: string }>
) => {
  const about = { operationId, summary, description, tags: [webhooksTag.name], security: [] }
  return { post: { ...about, parameters, requestBody, responses: { '2XX': delivered, ...others } } }
}

/** OpenAPI's `webhooks`. */
export const webhooks = {
  'call.completed': sent('callCompleted', 'A call has ended', webhookDescription, body(WebhookPayload, webhookPayload), {
    410: { description: 'The receiver is gone: this delivery is cancelled, and the URL is suspended.' },
    429: { description: 'Tried again after 60 seconds at least, or after `Retry-After`.' },
    default: { description: 'Tried again later. Redirects are not followed.' }
  }),
  'webhook.test': sent('webhookTest', 'A test of the webhook', testDescription, body(WebhookTest, webhookTest), {
    default: { description: 'Shown with the delivery; not tried again. Redirects are not followed.' }
  })
}
