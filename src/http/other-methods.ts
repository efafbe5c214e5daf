// Methods that an address does not take: 405 with those that it does.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from './app-types.js'

/** Adds routes to `app` by `addRoutes`. At their addresses it refuses every method that they do not take. */
export function addWithOtherMethods (app: App, addRoutes: () => void): void {
  const taken = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ routePath, method }) => {
    taken.set(routePath, new Set([...taken.get(routePath) ?? [], ...[method].flat()]))
  })
  addRoutes()
  for (const [url, methods] of [...taken]) {
    const refuse = refusal([...methods].sort())
    const others = app.supportedMethods.filter((method) => !methods.has(method))
    // In a hook already, so that neither a token nor a body is asked for.
    app.route({ url, method: others, schema: { hide: true }, onRequest: refuse, handler: refuse })
  }
}

function refusal (methods: string[]) {
  return async ({ method }: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', methods.join(', '))
    const refused = new Error(`This address does not take ${method}, only ${methods.join(', ')}.`)
    throw Object.assign(refused, { statusCode: 405 })
  }
}
