// `ringledger token`: signs bearer tokens with JWT_SECRET, to try the API with, and revokes them.
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { SignJWT } from 'jose'
import { type JwtSettings, digestOf, isSubject } from '../http/credentials.js'
import type { Connections } from '../services/connections.js'
import { answer, printJson } from './output.js'
import { completeConfig, readSettings, withConnections } from './running.js'

interface TokenRequest {
  user: string
  /** `engine` or `ops`; a caller's token has no role. */
  role?: string
  /** For example `1h` or `15m`. */
  ttl: string
}

export async function print (
  { user, json, ...request }: Omit<TokenRequest, 'user'> & { user?: string, json?: boolean }
): Promise<void> {
  if (user === undefined) throw new Error('--user is required: the user that the token acts for')
  if (!isSubject(user)) throw new Error('--user must be 1 to 128 printable characters')
  const config = readSettings()
  const jwt = config.jwt ?? (await completeConfig(config)).jwt
  const token = await signToken(jwt, { user, ...request })
  if (json) printJson({ token, user, role: request.role ?? null, ttl: request.ttl })
  else process.stdout.write(`${token}\n`)
}

/** Gives each token an id (`jti`) for revocation. @throws when tokens come from an issuer (JWT_JWKS_URL) */
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

/** Revokes a token; takes effect in every process within a second. */
export async function revoke (jti: string, _own: object, command: Command): Promise<void> {
  const { json } = command.optsWithGlobals<{ json?: boolean }>() // commander gives it to the parent `token`
  if (jti === '' || jti.length > 1_024) throw new Error('the jti must be 1 to 1024 characters')
  const isNew = await withConnections('ringledger token revoke', (connections) => revokeNow(connections, digestOf(jti)))
  answer(json, { revoked: true, was_revoked: !isNew }, isNew ? 'The token is revoked.' : 'The token was revoked already.')
}

/**
 * Appends the revocation, and notes it for every process. Safe to repeat: a second call notes what a crash left out.
 * @returns whether it was not revoked before
 */
export async function revokeNow (
  { streams, pool }: Pick<Connections, 'streams' | 'pool'>, jtiDigest: string
): Promise<boolean> {
  // Loaded here, as making a token needs no client of the event store.
  const [{ commandHandler }, { noteRevoked }, { tokenDecider }, { tokenStream }] = await Promise.all([
    import('../commands/handle.js'), import('../../projections/keys.js'),
    import('../features/api-keys/model.js'), import('../features/api-keys/events.js')
  ])
  const command = { jti_digest: jtiDigest, now: new Date().toISOString() }
  const { isAppended = false } = await commandHandler(streams)({
    aggregate: tokenDecider,
    stream: tokenStream(jtiDigest),
    decide: (state) => tokenDecider.decide(command, state),
    origin: { commandId: randomUUID(), correlationId: randomUUID() }
  })
  await noteRevoked(pool, { token: jtiDigest })
  return isAppended
}
