// What lets in, beside the signature of a token: API keys, and tokens that were not revoked.
import { createHash } from 'node:crypto'
import type { Scope } from '../../features/api-keys/events.js'

/** A key that may be used now. */
export interface ApiKeyUser {
  id: number
  user_id: string
  name: string
  scopes: Scope[]
}

/** Why a key lets nobody in. */
export type KeyRefusal = 'key-unknown' | 'key-revoked' | 'key-expired'

type Soon<Value> = Value | Promise<Value>

export interface Credentials {
  /**
   * Of a key that is well formed. A known key costs no round trip.
   * @throws NotKnownYet while it cannot be known who has the key
   */
  findKey (key: string): Soon<ApiKeyUser | KeyRefusal>
  /** Notes that the key is used, to the minute. */
  used (keyId: number): void
  /** Whether the token with this `jti` was ended before its time. @throws NotKnownYet */
  isTokenRevoked (jti: string): Soon<boolean>
}

/** `rl_` and 256 bits in base64url. */
export const keyPattern = /^rl_[A-Za-z0-9_-]{43}$/

/** SHA-256 in hexadecimal digits: of a key, and of the `jti` of a token. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** Where there is nothing but tokens. */
export const tokensAlone: Credentials =
  { findKey: () => 'key-unknown', used () {}, isTokenRevoked: () => false }

/** The key that a header carries, well formed or not; nothing where it carries a token. */
export const keyIn = (authorization: string | undefined) =>
  /^Bearer\s+(rl_\S*)\s*$/i.exec(authorization ?? '')?.[1]
