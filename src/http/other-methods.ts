// Methods that an address does not take: 405 with those that it does, which a preflight of CORS is told as well.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-types.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the address, where the route refuses all others. */
    allow?: string
  }
}

/** Call it before the routes are added, and what it returns behind them: every address then refuses other methods. */
export function noteMethods (app: App): () => void {
  const urls = new Set<string>()
  app.addHook('onRoute', ({ url }) => { urls.add(url) })
  return () => {
    for (const url of [...urls]) {
      const taken = app.supportedMethods.filter((method) => app.hasRoute({ method, url }))
      const others = app.supportedMethods.filter((method) => !taken.includes(method))
      const config = { allow: taken.sort().join(', ') }
      // In a hook already, so that neither a token nor a body is asked for.
      app.route({ url, method: others, schema: { hide: true }, config, onRequest: refuse, handler: refuse })
    }
  }
}

async function refuse ({ method, routeOptions: { config } }: FastifyRequest, reply: FastifyReply): Promise<never> {
  const { allow = '' } = config
  reply.header('allow', allow)
  throw Object.assign(new Error(`This address does not take ${method}, only ${allow}.`), { statusCode: 405 })
}
