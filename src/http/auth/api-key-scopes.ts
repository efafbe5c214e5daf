// What an API key may do: by its scopes, and never manage keys or the data of persons.
import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route is for tokens alone. */
    isClosedToKeys?: boolean
  }
}

/** Lets every token pass. @throws an error with status 403 */
export function refuseBeyondScopes ({ user: { apiKey }, method, routeOptions: { config } }: FastifyRequest): void {
  if (!apiKey) return
  if (config.isClosedToKeys) throw forbidden('This needs a token: an API key manages neither keys nor the data of persons.')
  const needed = method === 'GET' || method === 'HEAD' ? 'read' : 'write'
  if (!apiKey.scopes.includes(needed)) throw forbidden(`This needs an API key with the scope ${needed}.`)
}

const forbidden = (message: string) => Object.assign(new Error(message), { statusCode: 403 })
