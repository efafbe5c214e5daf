// POST /user/api-key
import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { KeptSecrets } from '../../../commands/idempotency/kept-secrets.js'
import { apiKeyDecider, type CreateApiKey } from '../decide.js'
import { apiKeyStream } from '../events.js'
import type { ApiKeyState } from '../evolve.js'
import { describeNewKey, NewKeyAnswer } from '../summary.js'
import { CreateApiKeyBody, validateNewApiKey } from '../validate.js'
import { idAt } from '../../../domain/decider.js'
import type { App } from '../../../http/app-types.js'
import { digestOf } from '../../../http/auth/credentials.js'
import { claimOf, type Handled, type HandleRoute, tokenCommand } from '../../../http/command-route.js'
import { answered, example, invalid, writeHeaders } from '../../../http/docs/describe.js'
import { createdApiKey, newApiKey } from '../../../http/docs/examples.js'

export interface CreateApiKeyDeps {
  handle: HandleRoute
  keptSecrets: KeptSecrets
}

const created = 'API key created successfully'
const Created = Type.Object({ message: Type.String(), data: NewKeyAnswer }, { title: 'CreatedApiKeyAnswer' })

const schema = {
  operationId: 'createApiKey',
  summary: 'Make an API key',
  description: 'The key is shown in this answer and kept nowhere: sent as `Authorization: Bearer rl_…` it acts for you, ' +
    'within its scopes. With an Idempotency-Key the same request gets the same answer, and so the key, for 24 hours: ' +
    'so long it is kept encrypted for that. This needs a token, not a key.',
  tags: ['account'],
  security: [{ bearer: [] }],
  body: example(CreateApiKeyBody, newApiKey),
  response: {
    201: answered('The key, shown this once.', Created, { message: created, data: createdApiKey }, ['ETag', ...writeHeaders]),
    422: invalid({ scopes: ['must not be empty'] })
  }
}

export function createApiKey (app: App, deps: CreateApiKeyDeps): void {
  const options = tokenCommand('user', 'Making the API key failed', 'Idempotency-Key')
  app.post('/user/api-key', { schema, ...options }, async (request, reply) => {
    const secret = secretOf(deps, request)
    return await deps.handle(request, reply.code(201), {
      body: CreateApiKeyBody,
      validate: (submitted) => validateNewApiKey(submitted, new Date().toISOString()),
      ids: () => ({ kind: 'api_key', count: 1 }),
      first: async () => await secret.make(),
      stream: (_body, ids) => apiKeyStream(idAt(ids, 0)),
      isNew: true,
      decider: {
        ...apiKeyDecider,
        decide: (command: Omit<CreateApiKey, 'hash' | 'prefix'>, state) =>
          apiKeyDecider.decide({ ...command, ...digestsOf(secret.made()) }, state)
      },
      etag: true,
      answer: async (handled) => ({ message: created, data: await answerOf(handled, await secret.shown()) })
    })
  })
}

/** The key of one request: made before the append, and found again where an earlier try of the request was answered. */
function secretOf ({ keptSecrets }: CreateApiKeyDeps, request: FastifyRequest) {
  let key: string | undefined
  return {
    async make (): Promise<void> { key = await keptSecrets.keep(claimOf(request), newKey) },
    made (): string {
      if (key === undefined) throw new Error('an API key is decided on before it was made')
      return key
    },
    shown: async (): Promise<string> => key ?? await keptSecrets.find(claimOf(request))
  }
}

const newKey = () => `rl_${randomBytes(32).toString('base64url')}`

/** The prefix leaves 208 bits to guess. */
const digestsOf = (key: string) => ({ hash: digestOf(key), prefix: key.slice(0, 11) })

async function answerOf ({ state, readBack }: Handled<ApiKeyState>, key: string): Promise<NewKeyAnswer> {
  if (!state) throw new Error('a handled command left no API key')
  const data = describeNewKey(state, key)
  return await readBack({ source: 'keys', folded: () => data })
}
