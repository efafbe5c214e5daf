// Serves the console at `/`: one page and its modules. Clients that take no HTML get the addresses of everything.
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot, packageVersion } from '../package-root.js'
import { accepts, addToVary, pagePolicy } from './edge.js'

/** Per address. A visit loads some twenty modules, once. */
const modulesPerMinute = 600

/** Register it after the rate limits. Also answers at BASE_PATH, if there is one. */
export async function addConsole (app: FastifyInstance, basePath: string): Promise<void> {
  const folder = join(packageRoot, 'dist/console')
  const page = (await readFile(join(folder, 'index.html'), 'utf8')).replaceAll('%BASE_PATH%', basePath)
  for (const url of new Set(['/', basePath || '/', `${basePath}/`])) {
    app.get(url, { schema: { hide: true }, onRequest: app.rateLimits.ofStranger }, async (request, reply) => {
      addToVary(reply, 'Accept')
      if (!accepts(request, 'text/html')) return about(basePath)
      return await reply.headers({ 'content-security-policy': pagePolicy, 'cache-control': 'no-cache' })
        .type('text/html; charset=utf-8').send(page)
    })
  }
  await app.register(async (scope) => {
    scope.addHook('onRequest', app.rateLimits.ofAddress(modulesPerMinute))
    await scope.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: `${basePath}/console/`,
      decorateReply: false,
      index: false,
      allowedPath: (path) => !path.endsWith('/'), // a folder is a 404 like all that is not there, and no 403
      preCompressed: true,
      immutable: true,
      maxAge: '365d',
      logLevel: 'warn'
    })
  })
}

const about = (basePath: string) => ({
  name: 'Ringledger', version: packageVersion, docs: `${basePath}/docs`, console: `${basePath}/`, health: '/health/ready'
})
