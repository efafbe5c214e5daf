// Credentials: tokens as the settings JWT_* describe them, the roles that they may name, and API keys; and why one was
// refused.
import { createHash } from 'node:crypto'
import { member } from '../domain/json.js'
import type { Problem } from '../domain/rejection.js'
import type { Scope } from '../features/api-keys/events.js'

const roles = ['user', 'engine', 'ops'] as const

/** Users have no role claim, unless JWT_ROLE_MAP knows what their issuer writes there. */
export type Role = typeof roles[number]

const isRole = (name: string): name is Role => roles.some((role) => role === name)

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
interface Checks {
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
export type JwtSettings = Checks & (
  | { secret: string }
  | { jwksUrl: string, issuer: string, audience: string, cooldownMs?: number })

interface JwtEnvironment {
  JWT_SECRET?: string | undefined
  JWT_JWKS_URL?: string | undefined
  JWT_ISSUER?: string | undefined
  JWT_AUDIENCE?: string | undefined
  JWT_ROLE_CLAIM: string
  JWT_ROLE_MAP: string
}

/** Checks the rules between these settings, and the names in JWT_ROLE_MAP. */
export function jwtProblems (env: Partial<JwtEnvironment>, previous: readonly string[] = []): Problem[] {
  const required = (field: 'JWT_ISSUER' | 'JWT_AUDIENCE') =>
    Boolean(env.JWT_JWKS_URL && !env[field]) && { field, message: 'is required with JWT_JWKS_URL' }
  const wrong = pairsOf(env.JWT_ROLE_MAP ?? '').find(([, ours]) => !isRole(ours))
  return [
    Boolean(env.JWT_SECRET && env.JWT_JWKS_URL) &&
      { field: 'JWT_SECRET', message: 'and JWT_JWKS_URL cannot both be set: choose one' },
    Boolean(previous.length > 0 && env.JWT_JWKS_URL) &&
      { field: 'JWT_SECRET_PREVIOUS', message: 'has no use beside JWT_JWKS_URL: remove it' },
    required('JWT_ISSUER'),
    required('JWT_AUDIENCE'),
    wrong !== undefined && {
      field: 'JWT_ROLE_MAP',
      message: `must be pairs theirs=ours such as authenticated=user, with user, engine or ops; ${wrong.join('=')} is none`
    }
  ]
}

/** `jwt` is undefined when no way to verify is set: a generated secret goes with `jwtChecks`. */
export function jwtSettings (env: JwtEnvironment, previousSecrets: readonly string[] = []) {
  const { JWT_SECRET: secret, JWT_JWKS_URL: jwksUrl, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = env
  const [roleMap, former] = [roleMapOf(env.JWT_ROLE_MAP), previousSecrets.length > 0 && { previousSecrets }]
  const own = { ...(roleMap && { roleMap }), ...former, ...(issuer && { issuer }), ...(audience && { audience }) }
  const jwtChecks: Checks = { roleClaim: env.JWT_ROLE_CLAIM, ...own }
  const ofIssuer = jwksUrl && issuer && audience ? { ...jwtChecks, jwksUrl, issuer, audience } : undefined
  const jwt: JwtSettings | undefined = secret ? { ...jwtChecks, secret } : ofIssuer
  return { jwt, jwtChecks }
}

/** Reads pairs of `theirs=ours`; undefined when there is none. The last pair of a name counts. */
export function roleMapOf (text: string): ReadonlyMap<string, Role> | undefined {
  const pairs = pairsOf(text).flatMap(([theirs, ours]): Array<[string, Role]> => isRole(ours) ? [[theirs, ours]] : [])
  return pairs.length > 0 ? new Map(pairs) : undefined
}

/** A name of theirs may contain an equals sign: the last one counts. */
function pairsOf (text: string): Array<[theirs: string, ours: string]> {
  return text.split(',').filter((pair) => pair.trim() !== '').map((pair) => {
    const at = pair.lastIndexOf('=')
    return at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}

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
