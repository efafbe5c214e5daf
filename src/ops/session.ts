// The session of an operator in a browser: a signed cookie that lasts an hour at most, and a token for its forms.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { SignJWT, jwtVerify } from 'jose'

export interface Session {
  /** Who logged in: the subject of the token. */
  user: string
  /** A form that changes something sends it back: no other page knows it. */
  csrf: string
  /** Of the token, where it has one: the session is over when that is revoked. */
  jti?: string | undefined
}

export const cookieName = 'ringledger_ops'
export const longestSessionSeconds = 3_600

const audience = 'ringledger ops'
const algorithm = 'HS256'

/** @param key 32 bytes @param seconds until the session ends, an hour at most @param jti of the token that opened it */
export async function signSession (key: Uint8Array, user: string, seconds: number, jti?: string): Promise<string> {
  const ends = Math.floor(Date.now() / 1_000) + Math.min(Math.floor(seconds), longestSessionSeconds)
  return await new SignJWT({ csrf: randomBytes(24).toString('base64url'), ...(jti !== undefined && { token: jti }) })
    .setProtectedHeader({ alg: algorithm }).setAudience(audience).setSubject(user).setExpirationTime(ends).sign(key)
}

/** Nothing when it is over, or was not signed here. */
export async function readSession (key: Uint8Array, cookie: string): Promise<Session | undefined> {
  try {
    const { payload } = await jwtVerify(cookie, key, { algorithms: [algorithm], audience, requiredClaims: ['sub', 'exp', 'csrf'] })
    const { sub, csrf, token } = payload
    return { user: String(sub), csrf: String(csrf), ...(typeof token === 'string' && { jti: token }) }
  } catch {
    return undefined
  }
}

export function isCsrfOf ({ csrf }: Session, given: unknown): boolean {
  const [known, sent] = [Buffer.from(csrf), Buffer.from(typeof given === 'string' ? given : '')]
  return known.length === sent.length && timingSafeEqual(known, sent)
}
