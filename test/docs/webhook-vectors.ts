// Signed and forged webhooks for authors of receivers; docs/webhooks/vectors.json is their text.
import { webhookPayload, webhookTest } from '../../src/http/docs/examples.js'
import { signedHeaders } from '../../workers/deliver/sign.js'

/** One request as a receiver gets it, and whether to believe it. */
export interface Vector {
  name: string
  secret: string
  id: string
  timestamp: string
  signature: string
  body: string
  /** The receiver's clock, in seconds since 1970. */
  now: number
  valid: boolean
}

export const vectorFile = 'docs/webhooks/vectors.json'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const [secret, previous, stranger] = [secretOf(1), secretOf(2), secretOf(3)] as const
const id = '5f0c6c0e-6c0b-5a0e-9a7d-3a8f1f0f6d11'
const at = 1_769_860_873

const odd = JSON.stringify({
  ...webhookPayload,
  data: {
    ...webhookPayload.data,
    transcript: 'customer: Grüezi, señor Łukasz 👋🏽\u2028\nassistant: "你好" \\ \u0000 \ud800',
    input_variables: {
      largest_safe: Number.MAX_SAFE_INTEGER, beyond: 2 ** 64, huge: 1.7976931348623157e308, tiny: 5e-324, fraction: 0.1
    }
  }
})

function signed (name: string, body: string, given: { secrets?: string[] } & Partial<Vector> = {}): Vector {
  const { secrets = [secret], ...changes } = given
  const { 'webhook-signature': signature } =
    signedHeaders({ id, attempt: 1, at: new Date(at * 1000) }, '0.0.0', Buffer.from(body), secrets)
  return { name, secret, id, timestamp: String(at), signature, body, now: at, valid: true, ...changes }
}

const plain = JSON.stringify(webhookPayload)
const test = JSON.stringify(webhookTest)
const [signature] = [signed('', test).signature]
const forged = (name: string, given: Parameters<typeof signed>[2]) => signed(name, test, { valid: false, ...given })

/** The valid ones are signed by the worker's own signer; each of the others differs in one thing. */
export const vectors: Vector[] = [
  signed('a completed call', plain),
  signed('accents, emoji, escapes and large numbers', odd),
  signed('a test', test),
  signed('during a rotation, by the new secret', plain, { secrets: [secret, previous] }),
  signed('during a rotation, by the previous secret', plain, { secrets: [secret, previous], secret: previous }),
  signed('beside a signature of another version', test, { signature: `v1a,${'A'.repeat(86)}== ${signature}` }),
  signed('five minutes late', test, { now: at + 300 }),
  signed('five minutes early', test, { now: at - 300 }),
  forged('a changed body', { body: test.replace('Renewals', 'renewals') }),
  forged('a body that was parsed and written again', { body: JSON.stringify(webhookTest, null, 2) }),
  forged('another id', { id: id.replace('5', '6') }),
  forged('another timestamp', { timestamp: String(at + 1) }),
  forged('the secret of somebody else', { secret: stranger }),
  forged('too late', { now: at + 301 }),
  forged('too early', { now: at - 301 }),
  forged('a timestamp that is no number', { timestamp: 'now' }),
  forged('no signature', { signature: '' }),
  forged('a signature that was cut', { signature: signature.slice(0, -8) }),
  forged('the right signature under another version', { signature: signature.replace('v1,', 'v2,') })
]

export const vectorText = () => `${JSON.stringify(vectors, null, 2)}\n`
