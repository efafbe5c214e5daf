// API keys of users: make one, revoke one, list them; and who somebody is to this service.
import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import { findApiKeys, noteRevoked } from '../../../projections/keys.js'
import { idAt } from '../../domain/decider.js'
import { Message, type App, apiKeyPath, pathId } from '../../http/app-types.js'
import { only } from '../../http/auth.js'
import { digestOf } from '../../http/credentials.js'
import { tokenCommand } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, writeHeaders } from '../../http/docs/describe.js'
import { apiKeyItem, createdApiKey, newApiKey, page } from '../../http/docs/examples.js'
import { PageOf, Paging } from '../../http/lists.js'
import { readErrors, readHeaders, reading } from '../../http/read-position.js'
import type { ApiServices } from '../../services/services.js'
import { apiKeyStream, Scope } from './events.js'
import {
  apiKeyDecider, ApiKeyItem, apiKeyNotFound, CreateApiKeyBody, describeNewKey, NewKeyAnswer, validateNewApiKey,
  type CreateApiKey, type RevokeApiKey
} from './model.js'

const shared = { tags: ['account'], security: [{ bearer: [] }] }

const created = 'API key created successfully'
const Created = Type.Object({ message: Type.String(), data: NewKeyAnswer }, { title: 'CreatedApiKeyAnswer' })
const createSchema = {
  ...shared,
  operationId: 'createApiKey',
  summary: 'Make an API key',
  description: 'The key is shown in this answer and kept nowhere: sent as `Authorization: Bearer rl_…` it acts for you, ' +
    'within its scopes. With an Idempotency-Key the same request gets the same answer, and so the key, for 24 hours: ' +
    'so long it is kept encrypted for that. This needs a token, not a key.',
  body: example(CreateApiKeyBody, newApiKey),
  response: {
    201: answered('The key, shown this once.', Created, { message: created, data: createdApiKey }, ['ETag', ...writeHeaders]),
    422: invalid({ scopes: ['must not be empty'] })
  }
}

const revoked = 'API key revoked successfully'
const revokeSchema = {
  ...shared,
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'It is refused for good, within a second. This needs a token, not a key.',
  params: apiKeyPath,
  response: {
    200: answered('It is revoked.', Message, { message: revoked }, writeHeaders),
    404: refusal('API key not found or does not belong to the authenticated user')
  }
}

export function addApiKeyCommands (app: App, services: ApiServices): void {
  const { handle, pool } = services

  const creating = tokenCommand('user', 'Making the API key failed', 'Idempotency-Key')
  app.post('/user/api-key', { schema: createSchema, ...creating }, (request, reply) => handle(request, reply.code(201), {
    body: CreateApiKeyBody,
    validate: (submitted) => validateNewApiKey(submitted, new Date().toISOString()),
    ids: () => ({ kind: 'api_key', count: 1 }),
    secret: () => `rl_${randomBytes(32).toString('base64url')}`,
    stream: (_body, ids) => apiKeyStream(idAt(ids, 0)),
    isNew: true,
    decider: {
      ...apiKeyDecider,
      decide: ({ secret, ...command }: Omit<CreateApiKey, 'hash' | 'prefix'> & MadeKey, state) =>
        apiKeyDecider.decide({ ...command, ...digestsOf(made(secret)) }, state)
    },
    etag: true,
    async answer ({ state, secret, readBack }) {
      if (!state) throw new Error('a handled command left no API key')
      const data = describeNewKey(state, made(secret))
      return { message: created, data: await readBack({ source: 'keys', folded: () => data }) }
    }
  }))

  const revoking = tokenCommand('user', 'Revoking the API key failed', 'Idempotency-Key', 'If-Match')
  app.delete('/user/api-key/:id', { schema: revokeSchema, ...revoking }, async (request, reply) => {
    const id = pathId(request.params.id, apiKeyNotFound)
    return await handle(request, reply, {
      body: Type.Object({}),
      validate: (): Pick<RevokeApiKey, 'type'> => ({ type: 'revoke' }),
      stream: () => apiKeyStream(id),
      isForOwner: true,
      decider: apiKeyDecider,
      async answer ({ readBack }) {
        await note(id, request.log)
        return await readBack({ source: 'keys', folded: () => ({ message: revoked }) })
      }
    })
  })

  /** The event counts without it: then processes learn of it from the read model. */
  async function note (id: number, log: FastifyBaseLogger): Promise<void> {
    await noteRevoked(pool, { key: id })
      .catch((error: unknown) => log.warn({ err: error }, 'the end of an API key was not announced'))
  }
}

interface MadeKey { secret: string | undefined }

function made (key: MadeKey['secret']): string {
  if (key === undefined) throw new Error('the API key that belongs to an Idempotency-Key is gone')
  return key
}

/** The prefix leaves 208 bits to guess. */
const digestsOf = (key: string) => ({ hash: digestOf(key), prefix: key.slice(0, 11) })

const paging = new Paging('api-keys', 100, ['whole'])
const listSchema = {
  ...shared,
  operationId: 'listApiKeys',
  summary: 'List your API keys',
  description: 'Newest first, without those that were revoked. This needs a token, not a key.',
  headers: readHeaders,
  querystring: Type.Object(paging.parameters),
  response: { 200: answered('The page that was asked for.', PageOf(ApiKeyItem), page(100, apiKeyItem)), ...readErrors }
}

export function listApiKeys (app: App, { pool, positions }: ApiServices): void {
  const listing = { ...reading('keys', positions, paging), config: { isClosedToKeys: true } }
  app.get('/user/api-keys', { schema: listSchema, ...listing }, async ({ user, query }) =>
    paging.answer(query, await findApiKeys(pool, user.id, paging.requested(query))))
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
  rate_limit_per_minute: Type.Integer({ minimum: 0, description: 'How many requests the user may make in a minute; 0 for no limit.' })
}, { title: 'Me' })
const me = { id: '1', scopes: ['read', 'write'], api_key: null, rate_limit_per_minute: 600 }
const meSchema = {
  ...shared,
  operationId: 'getMe',
  summary: 'Who you are to this service',
  response: { 200: answered('The user of the token.', One(Me), { data: me }) }
}

export function getMe (app: App, { config: { rateLimitPerMinute } }: ApiServices): void {
  app.get('/user/me', { schema: meSchema, onRequest: only('user') }, async (request, reply) => {
    await app.acquireReadSlot('item', request, reply)
    const { id, apiKey } = request.user
    const may = apiKey ? apiKey.scopes : ['read' as const, 'write' as const]
    const api_key = apiKey ? { id: apiKey.id, name: apiKey.name } : null
    return { data: { id, scopes: may, api_key, rate_limit_per_minute: rateLimitPerMinute } }
  })
}
