// `ringledger token`: makes a bearer token to try the API with.
import { SignJWT } from 'jose'
import { loadConfig } from '../config.js'
import { isSubject, type JwtSettings } from '../http/auth.js'
import { completeConfig } from './running/back-ends.js'

export interface TokenRequest {
  user: string
  /** `engine` or `ops`; a caller's token has no role. */
  role?: string
  /** Such as `1h` or `15m`. */
  ttl: string
}

/** @throws when tokens come from an issuer of their own (JWT_JWKS_URL) */
export async function signToken (jwt: JwtSettings, { user, role, ttl }: TokenRequest): Promise<string> {
  if (!('secret' in jwt)) throw new Error('tokens come from the issuer behind JWT_JWKS_URL; only with JWT_SECRET can they be made here')
  const { issuer, audience } = jwt
  return await new SignJWT({ ...(role && { [jwt.roleClaim]: role }), ...(issuer && { iss: issuer }), ...(audience && { aud: audience }) })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(user)
    .setIssuedAt()
    .setExpirationTime(ttl)
    .sign(new TextEncoder().encode(jwt.secret))
}

export async function printToken (request: TokenRequest): Promise<void> {
  if (!isSubject(request.user)) throw new Error('--user must be 1 to 128 printable characters')
  const { jwt } = await completeConfig(loadConfig(process.env))
  process.stdout.write(`${await signToken(jwt, request)}\n`)
}
