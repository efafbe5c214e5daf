// What happens to an API key, on the stream `apikey-<id>`, which holds only the key's digest. And that an operator
// revoked a token, on the stream `token-<digest>`.
import Type from 'typebox'
import { GivenId, Instant, Nullable, UserId, withoutNul } from '../../domain/json.js'
import { firstVersion, typesOf, type EventOf } from '../../domain/upcast.js'

export const scopes = ['read', 'write', 'webhooks'] as const
/** A key needs one of these to read the secrets that sign webhooks: with `read` alone it could forge webhooks. */
export const ofSecrets = ['webhooks', 'write'] as const
export type Scope = typeof scopes[number]
export const Scope = Type.Enum([...scopes], { title: 'Scope' })

const ids = { api_key_id: GivenId(), user_id: UserId }
const digest = '^[0-9a-f]{64}$'

export const apiKeyEvents = {
  ApiKeyCreated: firstVersion(Type.Object({
    ...ids,
    name: Type.String({ minLength: 1, maxLength: 255, ...withoutNul }),
    hash: Type.String({ pattern: digest, description: 'SHA-256 of the key, in hexadecimal digits.' }),
    prefix: Type.String({ minLength: 1, maxLength: 32, ...withoutNul, description: 'How the key begins.' }),
    scopes: Type.Array(Scope, { minItems: 1, maxItems: 16 }),
    expires_at: Nullable(Instant(), { description: 'From then on it is refused; null for never.' }),
    created_at: Instant()
  })),
  ApiKeyRevoked: firstVersion(Type.Object({ ...ids, revoked_at: Instant() }))
}
export type ApiKeyEvent = EventOf<typeof apiKeyEvents>
export const apiKeyEventTypes = typesOf(apiKeyEvents)

export const apiKeyStream = (apiKeyId: number) => `apikey-${apiKeyId}`

export const tokenEvents = {
  TokenRevoked: firstVersion(Type.Object({
    jti_digest: Type.String({ pattern: digest, description: 'SHA-256 of the token’s `jti`, in hexadecimal digits.' }),
    revoked_at: Instant()
  }))
}
export type TokenEvent = EventOf<typeof tokenEvents>

export const tokenStream = (jtiDigest: string) => `token-${jtiDigest}`
