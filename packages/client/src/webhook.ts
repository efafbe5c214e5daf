// Verifies that a request comes from Ringledger, with the library of https://www.standardwebhooks.com.
import { Webhook as Verifier, WebhookVerificationError } from 'standardwebhooks'
import type { components } from './api.js'

export { WebhookVerificationError }

/** What a receiver gets; `type` tells a call from a test. */
export type Webhook = components['schemas']['WebhookPayload'] | components['schemas']['WebhookTest']

/**
 * The payload of a request. `body` is what arrived, byte for byte: text that was parsed and written again does not
 * verify. One matching secret is enough. @throws WebhookVerificationError
 */
export function verifyWebhook (
  body: string | Buffer, headers: Headers | Record<string, string | string[] | undefined>, ...secrets: string[]
): Webhook {
  const given = headers instanceof Headers ? [...headers] : Object.entries(headers)
  const signed = Object.fromEntries(given.map(([name, value]) => [name.toLowerCase(), String(value)]))
  let refused: unknown = new WebhookVerificationError('There is no secret to verify by')
  for (const secret of secrets) {
    try {
      return new Verifier(secret).verify(body, signed) as Webhook // who has the secret sends nothing else
    } catch (error) {
      refused = error
    }
  }
  throw refused
}
