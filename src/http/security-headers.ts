// What browsers may do with an answer: show it to nobody else, keep it nowhere, run nothing in it.
import helmet from '@fastify/helmet'
import type { FastifyInstance } from 'fastify'

/** For an API; a route that serves a page sets a policy of its own. */
export async function registerSecurityHeaders (app: FastifyInstance): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], baseUri: ["'none'"], formAction: ["'none'"], frameAncestors: ["'none'"] }
    },
    xFrameOptions: { action: 'deny' },
    // For Internet Explorer, Flash and auditors of old browsers: they say nothing about an API.
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xDnsPrefetchControl: false
  })
  // Answers hold personal data; what may be kept, such as the files of the documentation, says so itself.
  app.addHook('onSend', async (_request, reply) => {
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}
