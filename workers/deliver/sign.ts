// The headers of an attempt, signed by Standard Webhooks: receivers can check who sent it, when, and that nothing was
// changed.
import { createHmac, randomBytes } from 'node:crypto'

interface NumberedAttempt {
  /** The `webhook-id`: the same at every attempt. */
  id: string
  /** Number of the attempt, from 1 on. */
  attempt: number
  at: Date
}

/** A new secret: 32 random bytes, the size that Standard Webhooks recommends (24 to 64). */
export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** All headers but the signature, as the user may see them. @param version of Ringledger */
export const requestHeaders = ({ id, attempt, at }: NumberedAttempt, version: string) => ({
  'content-type': 'application/json',
  'user-agent': `Ringledger/${version}`,
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-attempt': String(attempt)
})

/**
 * With the signatures that receivers verify.
 * @param secrets `whsec_…`, the newest first; during a rotation the previous one signs too @throws Error if one is not
 */
export function signedHeaders (attempt: NumberedAttempt, version: string, body: Buffer, secrets: readonly string[]) {
  const headers = requestHeaders(attempt, version)
  const prefix = `${attempt.id}.${headers['webhook-timestamp']}.`
  return { ...headers, 'webhook-signature': secrets.map((secret) => signature(secret, prefix, body)).join(' ') }
}

/** Uses the HMAC of Node: that of the package `standardwebhooks` is JavaScript, and takes 6 ms for 256 KiB. */
function signature (secret: string, prefix: string, body: Buffer): string {
  const [, key] = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret) ?? []
  if (key === undefined) throw new Error('a webhook secret is not `whsec_` and base64')
  return `v1,${createHmac('sha256', Buffer.from(key, 'base64')).update(prefix).update(body).digest('base64')}`
}
