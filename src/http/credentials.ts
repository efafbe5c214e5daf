// Credentials: tokens, the roles that they may name, and API keys; and why one was refused.
import { createHash } from 'node:crypto'
import { member } from '../domain/json.js'
import type { Scope } from '../features/api-keys/events.js'

const roles = ['user', 'engine', 'ops'] as const

/** Users have no role claim, unless JWT_ROLE_MAP knows what their issuer writes there. */
export type Role = typeof roles[number]

export const isRole = (name: string): name is Role => roles.some((role) => role === name)

/**
 * The role that a claim names, or `unknown`. A token without the claim is a user's. The name `user` counts only if the
 * map has it.
 */
export function roleOf (claim: unknown, map?: ReadonlyMap<string, Role>): Role | 'unknown' {
  if (claim === undefined) return 'user'
  const name = claim === null ? '' : claim
  if (typeof name !== 'string') return 'unknown'
  const mapped = map?.get(name)
  if (mapped) return mapped
  return isRole(name) && name !== 'user' ? name : 'unknown'
}

/** What holds whatever the keys are. */
export interface JwtChecks {
  roleClaim: string
  /** An issuer's names for our roles. The empty name also stands for a claim that is null. */
  roleMap?: ReadonlyMap<string, Role> | undefined
  /** Required value of `iss`; not checked when absent. */
  issuer?: string | undefined
  /** Required value of `aud`, or one of its values; not checked when absent. */
  audience?: string | undefined
  previousSecrets?: readonly string[]
}

/** How tokens are verified: one shared secret, or the keys that an issuer publishes. */
export type JwtSettings = JwtChecks & (
  | { secret: string }
  | { jwksUrl: string, issuer: string, audience: string, cooldownMs?: number })

/** A key that is valid now. */
export interface ApiKeyUser {
  id: number
  user_id: string
  name: string
  scopes: Scope[]
}

export type KeyRefusal = 'key-unknown' | 'key-revoked' | 'key-expired'

export interface Credentials {
  /** Caches recent look-ups. @throws NotKnownYet while it cannot be known who has the key */
  findKey (key: string): Promise<ApiKeyUser | KeyRefusal>
  /** Notes the use of the key, to the minute. */
  used (keyId: number): void
  /** Whether the token with this `jti` was revoked. @throws NotKnownYet */
  isTokenRevoked (jti: string): Promise<boolean>
}

/** `rl_` and 256 bits in base64url. */
export const keyPattern = /^rl_[A-Za-z0-9_-]{43}$/

/** SHA-256 in hexadecimal digits: of a key, and of the `jti` of a token. */
export const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

/** The key in a header, well formed or not; undefined where it has a token. */
export const keyIn = (authorization: string | undefined) =>
  /^Bearer\s+(rl_\S*)\s*$/i.exec(authorization ?? '')?.[1]

const descriptions = {
  missing: undefined,
  malformed: 'The token cannot be read',
  algorithm: 'The algorithm of the token is not accepted',
  signature: 'The signature of the token does not verify',
  key: 'No key of the issuer fits the token',
  expired: 'The token has expired',
  'not-yet-valid': 'The token is not valid yet',
  issuer: 'The issuer of the token is not accepted',
  audience: 'The audience of the token is not accepted',
  claims: 'A claim about the time of the token is missing or wrong',
  subject: 'The subject of the token is missing or wrong',
  revoked: 'The token was revoked',
  'key-unknown': 'The API key is not known',
  'key-revoked': 'The API key was revoked',
  'key-expired': 'The API key has expired',
  role: undefined
}

/** `missing`: no token at all. `role`: a valid token that is of no use here. */
export type Refusal = keyof typeof descriptions

/** A refused key, or a token that verifies and was revoked. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor (readonly refusal: Refusal) {
    super(descriptions[refusal] ?? refusal)
  }
}

/** The header WWW-Authenticate of a 401. */
export function challenge (refusal: Refusal): string {
  const description = descriptions[refusal]
  return description === undefined ? 'Bearer' : `Bearer error="invalid_token", error_description="${description}"`
}

const byCode: Record<string, Refusal> = {
  FST_JWT_AUTHORIZATION_TOKEN_EXPIRED: 'expired',
  FAST_JWT_INACTIVE: 'not-yet-valid',
  FAST_JWT_INVALID_ALGORITHM: 'algorithm',
  FAST_JWT_MISSING_SIGNATURE: 'signature',
  FAST_JWT_MISSING_KEY: 'algorithm'
}

/** @fastify/jwt has one code for all of these: only fast-jwt's messages tell them apart. */
const byWords: ReadonlyArray<[words: RegExp, Refusal]> = [
  [/token signature is (invalid|missing)/, 'signature'],
  [/\biss claim/, 'issuer'],
  [/\baud claim/, 'audience'],
  [/\bsub\b/, 'subject'],
  [/\b(exp|nbf|iat) claim/, 'claims'],
  [/public key/, 'algorithm']
]

/** Errors of the JWT libraries have codes; all others come from looking for the issuer's key. */
export function refusalOf (error: unknown, authorization: string | undefined): Refusal {
  if (!/^bearer\s+\S/i.test(authorization ?? '')) return 'missing'
  if (!(error instanceof Error)) return 'malformed'
  if (error instanceof Refused) return error.refusal
  const code = 'code' in error ? String(error.code) : ''
  const known = byCode[code] ?? byWords.find(([words]) => words.test(error.message))?.[1]
  return known ?? (/^FA?ST_JWT_/.test(code) ? 'malformed' : 'key')
}

/** The subject that a token claims, unverified, for the log. */
export function claimedSubject (authorization: string | undefined): string | undefined {
  const payload = /^bearer\s+[^.\s]+\.([^.\s]+)\./i.exec(authorization ?? '')?.[1]
  if (payload === undefined) return undefined
  try {
    const sub = member(JSON.parse(Buffer.from(payload, 'base64url').toString()), 'sub')
    return isSubject(sub) ? sub : undefined
  } catch {
    return undefined
  }
}

/** 1 to 128 printable characters. */
export const isSubject = (sub: unknown): sub is string => typeof sub === 'string' && /^[^\p{C}]{1,128}$/u.test(sub)
