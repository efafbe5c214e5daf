// What happens to an API key, on the stream `apikey-<id>`. The key itself is nowhere: only its digest is.
import Type, { type Static } from 'typebox'
import { GivenId, Instant, Nullable, UserId, withoutNul } from '../../domain/json.js'

export const scopes = ['read', 'write', 'webhooks'] as const
/** What lets a key read the secrets that sign webhooks: who only reads could forge them. */
export const ofSecrets = ['webhooks', 'write'] as const
export type Scope = typeof scopes[number]
export const Scope = Type.Enum([...scopes], { title: 'Scope' })

const ids = { api_key_id: GivenId(), user_id: UserId }

export const ApiKeyCreated = Type.Object({
  ...ids,
  name: Type.String({ minLength: 1, maxLength: 255, ...withoutNul }),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the key, in hexadecimal digits.' }),
  prefix: Type.String({ minLength: 1, maxLength: 32, ...withoutNul, description: 'How the key begins.' }),
  scopes: Type.Array(Scope, { minItems: 1, maxItems: 16 }),
  expires_at: Nullable(Instant(), { description: 'From then on it is refused; null for never.' }),
  created_at: Instant()
})
export const ApiKeyRevoked = Type.Object({ ...ids, revoked_at: Instant() })

export type ApiKeyEvent =
  | { type: 'ApiKeyCreated', data: Static<typeof ApiKeyCreated> }
  | { type: 'ApiKeyRevoked', data: Static<typeof ApiKeyRevoked> }

export const apiKeyEventTypes = ['ApiKeyCreated', 'ApiKeyRevoked'] as const

export const apiKeyStream = (apiKeyId: number) => `apikey-${apiKeyId}`
