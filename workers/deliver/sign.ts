// Signs a body by Standard Webhooks, so that receivers know who sent it, when, and that nothing was changed.
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'

export interface Signable {
  /** The `webhook-id`: the same at every attempt. */
  id: string
  /** Number of the attempt, from 1 on. */
  attempt: number
  body: string
  at: Date
  /** `whsec_…`, the newest first; during a rotation the previous one signs too. */
  secrets: readonly string[]
}

/** A new secret: 32 random bytes, the size that Standard Webhooks recommends (24 to 64). */
export function newSecret (): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/** The headers that receivers verify. @throws Error when a secret is not `whsec_` and base64 */
export function signedHeaders ({ id, attempt, body, at, secrets }: Signable): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, at, body)).join(' '),
    'webhook-attempt': String(attempt)
  }
}
