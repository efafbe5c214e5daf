// API keys of users: make one, revoke one, list them; and who somebody is to this service.
import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { findApiKeys, noteRevoked } from '../../../projections/keys.js'
import { idAt } from '../../domain/events.js'
import { Message, apiKeyPath, pathId } from '../../http/app-types.js'
import { digestOf } from '../../http/credentials.js'
import { command } from '../../http/command-route.js'
import { answered, example, invalid, One, refusal, withMessage, writeHeaders } from '../../http/docs/describe.js'
import { apiKeyItem, createdApiKey, newApiKey } from '../../http/docs/examples.js'
import { readingNow } from '../../http/read-position.js'
import { list, route } from '../route.js'
import { apiKeyStream, Scope } from './events.js'
import {
  apiKeyDecider, ApiKeyItem, apiKeyNotFound, CreateApiKeyBody, describeNewKey, NewKeyAnswer, validateNewApiKey,
  type CreateApiKey
} from './model.js'

const tags = ['account']

const created = 'API key created successfully'
const createApiKey = route('POST', '/user/api-key', command('user', 'Making the API key failed', ['Idempotency-Key'], {
  tags,
  operationId: 'createApiKey',
  summary: 'Make an API key',
  description: 'The key is shown in this answer and kept nowhere: sent as `Authorization: Bearer rl_…` it acts for you, ' +
    'within its scopes. With an Idempotency-Key the same request gets the same answer, and so the key, for 24 hours: ' +
    'so long it is kept encrypted for that. This needs a token, not a key.',
  body: example(CreateApiKeyBody, newApiKey),
  response: {
    201: withMessage('The key, shown this once.', NewKeyAnswer, { message: created, data: createdApiKey }),
    422: invalid({ scopes: ['must not be empty'] })
  }
}, { isClosedToKeys: true }), ({ handle }) => (request, reply) => handle(request, reply.code(201), {
  body: CreateApiKeyBody,
  validate: (submitted) => validateNewApiKey(submitted, new Date().toISOString()),
  ids: () => ({ kind: 'api_key', count: 1 }),
  secret: () => `rl_${randomBytes(32).toString('base64url')}`,
  stream: (_body, ids) => apiKeyStream(idAt(ids, 0)),
  isNew: true,
  decider: {
    ...apiKeyDecider,
    decide: ({ secret, ...command }: Omit<CreateApiKey, 'hash' | 'prefix'> & { secret: string | undefined }, state) =>
      apiKeyDecider.decide({ ...command, ...digestsOf(made(secret)) }, state)
  },
  etag: true,
  async answer ({ state, secret, readBack }) {
    const data = describeNewKey(state, made(secret))
    return { message: created, data: await readBack({ source: 'keys', folded: () => data }) }
  }
}))

function made (key: string | undefined): string {
  if (key === undefined) throw new Error('the API key that belongs to an Idempotency-Key is gone')
  return key
}

/** The prefix leaves 208 bits to guess. */
const digestsOf = (key: string) => ({ hash: digestOf(key), prefix: key.slice(0, 11) })

const revoked = 'API key revoked successfully'
const revokeApiKey = route('DELETE', '/user/api-key/:id', command('user', 'Revoking the API key failed', ['Idempotency-Key', 'If-Match'], {
  tags,
  operationId: 'revokeApiKey',
  summary: 'Revoke an API key',
  description: 'It is refused for good, within a second. This needs a token, not a key.',
  params: apiKeyPath,
  response: {
    200: answered('It is revoked.', Message, { message: revoked }, writeHeaders), 404: refusal(apiKeyNotFound().message)
  }
}, { isClosedToKeys: true }), ({ handle, pool }) => (request, reply) => {
  const id = pathId(request.params.id, apiKeyNotFound)
  return handle(request, reply, {
    validate: () => ({ type: 'revoke' as const }),
    stream: () => apiKeyStream(id),
    isForOwner: true,
    decider: apiKeyDecider,
    async answer ({ readBack }) {
      // If this fails, the event still counts: processes then learn of it from the read model.
      await noteRevoked(pool, { key: id })
        .catch((error: unknown) => request.log.warn({ err: error }, 'the end of an API key was not announced'))
      return await readBack({ source: 'keys', folded: () => ({ message: revoked }) })
    }
  })
})

const listApiKeys = list('/user/api-keys', {
  source: 'keys',
  perPage: 100,
  keys: ['whole'],
  item: ApiKeyItem,
  example: apiKeyItem,
  tags,
  operationId: 'listApiKeys',
  summary: 'List your API keys',
  description: 'Newest first, without those that were revoked. This needs a token, not a key.',
  isClosedToKeys: true
}, ({ pool }, page, { user }) => findApiKeys(pool, user.id, page))

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

export const getMe = route('GET', '/user/me', readingNow({
  tags,
  operationId: 'getMe',
  summary: 'Who you are to this service',
  response: { 200: answered('The user of the token.', One(Me), { data: me }) }
}), ({ config: { rateLimitPerMinute } }) => async ({ user: { id, apiKey } }) => {
  const may = apiKey ? apiKey.scopes : ['read' as const, 'write' as const]
  const api_key = apiKey ? { id: apiKey.id, name: apiKey.name } : null
  return { data: { id, scopes: may, api_key, rate_limit_per_minute: rateLimitPerMinute } }
})

export const apiKeyCommands = [createApiKey, revokeApiKey]
export const apiKeyQueries = [listApiKeys]
