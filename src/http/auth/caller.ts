// Who calls, as requests carry it, and by what it is known.
import type { ApiKeyUser, Credentials } from './credentials.js'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Record<string, unknown>
    user: Caller
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    credentials: Credentials
  }
}

export interface Caller {
  id: string
  role: string
  /** Of a token that has one. */
  jti?: string | undefined
  /** The key that came instead of a token. */
  apiKey?: ApiKeyUser | undefined
}
