// GET /
import type { FastifyInstance } from 'fastify'
import { addToVary } from '../../http/cors.js'
import { sendPage } from '../csp.js'
import { page } from '../pages/layout.js'
import { about, rootPage } from '../pages/other.js'

/** A page for browsers, JSON for the others. Where there is a BASE_PATH it answers there, too. */
export function addRoot (app: FastifyInstance, basePath: string): void {
  for (const url of new Set(['/', basePath || '/', `${basePath}/`])) {
    app.get(url, { schema: { hide: true }, onRequest: app.rateLimits.ofStranger }, async ({ headers }, reply) => {
      addToVary(reply, 'Accept')
      if (!/\btext\/html\b/i.test(headers.accept ?? '')) return about(basePath)
      return sendPage(reply, 200, page({ root: `${basePath}/ops`, title: 'Ringledger' }, rootPage(basePath)))
    })
  }
}
