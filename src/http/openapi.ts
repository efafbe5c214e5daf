// The API document, made from the schemas that validate, and the page that shows it without the internet.
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { packageVersion } from '../package-root.js'

/** Serves `/docs` and `/docs/json`. Register it before the routes. */
export async function addApiDocs (app: FastifyInstance, basePath: string): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Ringledger',
        version: packageVersion,
        description: 'Voice assistants, leads and signed webhooks after each call.'
      },
      servers: [{ url: basePath || '/' }],
      tags: [
        { name: 'assistants', description: 'AI voice assistants that handle phone calls' },
        { name: 'leads', description: 'People to be called, under campaigns' },
        { name: 'calls', description: 'What was said, and what became of the webhook' },
        { name: 'catalog', description: 'What there is to choose from' },
        { name: 'webhooks', description: 'Signed notifications after each call' },
        { name: 'engine', description: 'What the call engine reports' }
      ],
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } }
    }
  })
  await app.register(fastifySwaggerUi, { routePrefix: `${basePath}/docs`, staticCSP: true })
}
