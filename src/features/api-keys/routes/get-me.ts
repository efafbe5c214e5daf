// GET /user/me
import Type from 'typebox'
import { Scope } from '../events.js'
import type { App } from '../../../http/app-types.js'
import { only } from '../../../http/auth/auth.js'
import { answered, One } from '../../../http/docs/describe.js'

export interface GetMeDeps {
  /** Requests that each user may make in a minute; 0 for no limit. */
  rateLimitPerMinute: number
}

const Me = Type.Object({
  id: Type.String({ description: 'The user, as the token names them.', examples: ['1'] }),
  scopes: Type.Array(Scope, { description: 'What the key may do; a JWT may do both.' }),
  api_key: Type.Unsafe<{ id: number, name: string } | null>({
    title: 'UsedApiKey',
    type: ['object', 'null'],
    required: ['id', 'name'],
    properties: { id: { type: 'integer' }, name: { type: 'string' } },
    description: 'The API key that was sent; null with a JWT.'
  }),
  rate_limit_per_minute: Type.Integer({ minimum: 0, description: 'Of the user; 0 for no limit.' })
}, { title: 'Me' })

const example = { id: '1', scopes: ['read', 'write'], api_key: null, rate_limit_per_minute: 600 }

const schema = {
  operationId: 'getMe',
  summary: 'Who you are to this service',
  tags: ['account'],
  security: [{ bearer: [] }],
  response: { 200: answered('The user of the token.', One(Me), { data: example }) }
}

export function getMe (app: App, { rateLimitPerMinute }: GetMeDeps): void {
  app.get('/user/me', { schema, onRequest: only('user') }, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const { id, apiKey } = request.user
    const may = apiKey ? apiKey.scopes : ['read' as const, 'write' as const]
    const api_key = apiKey ? { id: apiKey.id, name: apiKey.name } : null
    return { data: { id, scopes: may, api_key, rate_limit_per_minute: rateLimitPerMinute } }
  })
}
