// Signs bearer tokens with JWT_SECRET, each with an id (`jti`) by which it can be revoked.
import { randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import type { JwtSettings } from '../../http/auth/jwt-settings.js'

export interface TokenRequest {
  user: string
  /** `engine` or `ops`; a caller's token has no role. */
  role?: string
  /** Such as `1h` or `15m`. */
  ttl: string
}

/** @throws when tokens come from an issuer of their own (JWT_JWKS_URL) */
export async function signToken (jwt: JwtSettings, { user, role, ttl }: TokenRequest): Promise<string> {
  if (!('secret' in jwt)) {
    throw new Error('tokens come from the issuer behind JWT_JWKS_URL; only with JWT_SECRET can they be made here')
  }
  const { issuer, audience, roleClaim } = jwt
  const fromIssuer = { ...(issuer && { iss: issuer }), ...(audience && { aud: audience }) }
  const claims = { ...(role && { [roleClaim]: role }), ...fromIssuer }
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setSubject(user)
    .setJti(randomUUID())
    .setIssuedAt()
    .setExpirationTime(ttl)
    .sign(new TextEncoder().encode(jwt.secret))
}
