// GET /
import type { FastifyInstance } from 'fastify'
import { addWithOtherMethods } from '../../http/other-methods.js'
import type { App } from '../../http/app-types.js'
import { sendPage } from '../csp.js'
import { page } from '../pages/layout.js'
import { about, rootPage } from '../pages/other.js'

/** A page for browsers, JSON for the others. Where there is a BASE_PATH it answers there, too. */
export async function addRoot (app: FastifyInstance, basePath: string): Promise<void> {
  await app.register(async (scope: App) => {
    addWithOtherMethods(scope, () => {
      for (const url of new Set(['/', basePath || '/', `${basePath}/`])) {
        scope.get(url, { schema: { hide: true }, onRequest: app.rateLimits.ofStranger }, async ({ headers }, reply) => {
          reply.header('vary', 'accept')
          if (!/\btext\/html\b/i.test(headers.accept ?? '')) return about(basePath)
          return sendPage(reply, 200, page({ root: `${basePath}/ops`, title: 'Ringledger' }, rootPage(basePath)))
        })
      }
    })
  })
}
