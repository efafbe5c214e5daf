// DELETE /user/api-key/{id}
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import { apiKeyDecider, apiKeyNotFound, type RevokeApiKey } from '../decide.js'
import { apiKeyStream } from '../events.js'
import { Message, type App } from '../../../http/app-types.js'
import { tokenCommand, type HandleRoute } from '../../../http/command-route.js'
import { answered, refusal, writeHeaders } from '../../../http/docs/describe.js'
import { apiKeyPath, idIn } from '../../../http/path-id.js'

export interface RevokeApiKeyDeps {
  handle: HandleRoute
  /** Tells every process that the key is over. */
  announceRevoked (keyId: number): Promise<void>
}

const revoked = 'API key revoked successfully'

const schema = {
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'It is refused for good, within a second. This needs a token, not a key.',
  tags: ['account'],
  security: [{ bearer: [] }],
  params: apiKeyPath,
  response: {
    200: answered('It is revoked.', Message, { message: revoked }, writeHeaders),
    404: refusal('API key not found or does not belong to the authenticated user')
  }
}

export function revokeApiKey (app: App, deps: RevokeApiKeyDeps): void {
  const options = tokenCommand('user', 'Revoking the API key failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/api-key/:id', { schema, ...options }, async (request, reply) => {
    const id = idIn(request.params.id)
    if (id === undefined) throw apiKeyNotFound()
    return await deps.handle(request, reply, {
      body: Type.Object({}),
      validate: (): Pick<RevokeApiKey, 'type'> => ({ type: 'revoke' }),
      stream: () => apiKeyStream(id),
      isForOwner: true,
      decider: apiKeyDecider,
      async answer (handled) {
        await announce(deps, id, request.log)
        return await handled.readBack({ source: 'keys', folded: () => ({ message: revoked }) })
      }
    })
  })
}

/** The event counts without it: then processes learn of it from the read model. */
async function announce ({ announceRevoked }: RevokeApiKeyDeps, id: number, log: FastifyBaseLogger): Promise<void> {
  await announceRevoked(id).catch((error: unknown) => log.warn({ err: error }, 'the end of an API key was not announced'))
}
