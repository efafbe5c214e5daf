// How tokens are verified, as the settings that begin with JWT_ say it, and the roles that they may name.
import type { Problem } from '../domain/validation.js'

const roles = ['user', 'engine', 'ops'] as const

/** Users have no role claim, unless JWT_ROLE_MAP knows what their issuer writes there. */
export type Role = typeof roles[number]

const isRole = (name: string): name is Role => roles.some((role) => role === name)

/**
 * The role that a claim names, or `unknown`. A token without the claim is a user's; the name `user` is nobody's unless
 * the map has it.
 */
export function roleOf (claim: unknown, map?: ReadonlyMap<string, Role>): Role | 'unknown' {
  if (claim === undefined) return 'user'
  const name = claim === null ? '' : claim
  if (typeof name !== 'string') return 'unknown'
  const mapped = map?.get(name)
  if (mapped) return mapped
  return isRole(name) && name !== 'user' ? name : 'unknown'
}

interface Checks {
  roleClaim: string
  /** What other names of an issuer stand for; the empty one also for a claim that is null. */
  roleMap?: ReadonlyMap<string, Role> | undefined
  /** Required value of `iss`; not checked when absent. */
  issuer?: string | undefined
  /** Required value of `aud`, or one of its values; not checked when absent. */
  audience?: string | undefined
}

/** How tokens are verified: one shared secret, or the keys that an issuer publishes. */
export type JwtSettings = Checks & (
  | { secret: string, previousSecrets?: readonly string[] }
  | { jwksUrl: string, issuer: string, audience: string, cooldownMs?: number })

/** Values of the environment. */
interface JwtEnvironment {
  JWT_SECRET?: string | undefined
  JWT_JWKS_URL?: string | undefined
  JWT_ISSUER?: string | undefined
  JWT_AUDIENCE?: string | undefined
  JWT_ROLE_CLAIM: string
  JWT_ROLE_MAP: string
}

/** Rules between these settings, and the names in JWT_ROLE_MAP. */
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

/** Nothing where no way to verify is set. */
export function jwtSettings (env: JwtEnvironment, previousSecrets: readonly string[] = []): JwtSettings | undefined {
  const { JWT_ROLE_CLAIM: roleClaim, JWT_ISSUER: issuer, JWT_AUDIENCE: audience } = env
  const roleMap = roleMapOf(env.JWT_ROLE_MAP)
  const roles = { roleClaim, ...(roleMap && { roleMap }) }
  if (env.JWT_SECRET) {
    const former = previousSecrets.length > 0 && { previousSecrets }
    return { ...roles, secret: env.JWT_SECRET, ...former, ...(issuer && { issuer }), ...(audience && { audience }) }
  }
  if (!env.JWT_JWKS_URL || !issuer || !audience) return undefined
  return { ...roles, issuer, audience, jwksUrl: env.JWT_JWKS_URL }
}

/** Of `theirs=ours` pairs; nothing where there is none. Of a name that is there twice the last one counts. */
export function roleMapOf (text: string): ReadonlyMap<string, Role> | undefined {
  const pairs = pairsOf(text).flatMap(([theirs, ours]): Array<[string, Role]> => isRole(ours) ? [[theirs, ours]] : [])
  return pairs.length > 0 ? new Map(pairs) : undefined
}

/** Their names may hold an equals sign: the last one counts. */
function pairsOf (text: string): Array<[theirs: string, ours: string]> {
  return text.split(',').filter((pair) => pair.trim() !== '').map((pair) => {
    const at = pair.lastIndexOf('=')
    return at < 0 ? [pair.trim(), ''] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
  })
}
