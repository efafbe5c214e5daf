// A receiver takes what was signed with one of its secrets, and nothing else.
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { verifyWebhook } from '../src/index.js'

const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDuZqNkKCZ7Zk='
const former = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwHvPMJ0aSTxk='
const body = '{"type":"webhook.test","timestamp":"2026-01-31T11:59:00.000Z","data":{"assistant":{"id":1,"name":"Renewals"}}}'

function signed (by: string, at = new Date()): Record<string, string> {
  return {
    'Webhook-Id': 'w-1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(by).sign('w-1', at, body)
  }
}

t.test('a signed request is its payload, by any of the secrets, whatever the headers are kept in', async (t) => {
  const payload = verifyWebhook(body, signed(secret), secret)
  t.equal(payload.type === 'webhook.test' && payload.data.assistant.name, 'Renewals')
  t.match(verifyWebhook(Buffer.from(body), new Headers(signed(former)), secret, former), { type: 'webhook.test' })
})

t.test('a request that was changed, is old, or was signed by somebody else is refused', async (t) => {
  const refused = { name: /./, message: /signature|timestamp|headers|secret/i }
  t.throws(() => verifyWebhook(`${body} `, signed(secret), secret), refused)
  t.throws(() => verifyWebhook(body, signed(former), secret), refused)
  t.throws(() => verifyWebhook(body, signed(secret, new Date(Date.now() - 3_600_000)), secret), refused)
  t.throws(() => verifyWebhook(body, {}, secret), refused)
  t.throws(() => verifyWebhook(body, signed(secret)), refused)
})
