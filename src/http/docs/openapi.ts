// The API document, made from the schemas that validate, and the page that shows it without the internet.
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { packageVersion } from '../../package-root.js'
import { etagOf } from '../etags.js'
import { documented } from './describe.js'
import { apiDocument, asVersion30, originOf } from './document.js'
import { webhooks, webhooksTag } from './webhooks.js'

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
  { name: 'health', description: 'Whether a process lives, and can do its work' },
  webhooksTag
]

const bearer = {
  type: 'http' as const,
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description: 'A JWT with `exp` and `sub`. Users have no role claim; the call engine has the role `engine`.'
}

/** One scheme, not two of which either is enough: generated clients would send the header for each of them. */
const bearerOrKey = {
  type: 'http' as const,
  scheme: 'bearer',
  description: 'A JWT as in `bearer`, or an API key of `POST /user/api-key`: `rl_…`. Its scope `read` is every GET, `write` ' +
    'every other request; the secrets that sign webhooks are read with `webhooks` or `write`.'
}

/** Nothing from elsewhere, and no upgrade to https: the page also works where TLS ends at a proxy, or nowhere. */
const pageCsp = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

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
      servers: [{ url: basePath || '/' }], // what the plugin takes off the paths
      tags,
      components: { securitySchemes: { bearer, bearerOrKey } }
    },
    transform: ({ url, route }) => ({ url, schema: documented(route) }),
    transformObject: (documents) =>
      'openapiObject' in documents ? apiDocument(documents.openapiObject, webhooks, origin) : documents.swaggerObject
  })
  await app.register(async (documents) => {
    documents.addHook('onRequest', async (request, reply) => await app.rateLimits.ofStranger(request, reply))
    servePrepared(documents, `${basePath}/docs`)
    await documents.register(fastifySwaggerUi, {
      routePrefix: `${basePath}/docs`,
      staticCSP: pageCsp,
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

/** The routes of the page write the document anew for each request: these handlers take their place. */
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

/** A handler that answers what `write` gives. It writes at the first request, when all routes are known. */
function prepared (contentType: string, write: () => string) {
  let bytes: Buffer | undefined
  let etag = ''
  return async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (!bytes) {
      bytes = Buffer.from(write())
      etag = etagOf(bytes)
    }
    reply.headers({ etag, 'cache-control': 'no-cache' }) // may be kept, and is asked for again
    return await reply.type(contentType).send(bytes)
  }
}
