// An operator ended a token before its time, on the stream `token-<digest>`.
import Type, { type Static } from 'typebox'
import { Instant } from '../../domain/json.js'

export const TokenRevoked = Type.Object({
  jti_digest: Type.String({
    pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the token’s `jti`, in hexadecimal digits.'
  }),
  revoked_at: Instant()
})

export type TokenEvent = { type: 'TokenRevoked', data: Static<typeof TokenRevoked> }

export const tokenStream = (jtiDigest: string) => `token-${jtiDigest}`
