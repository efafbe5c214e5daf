// What somebody types into an address or a body of the API for operators is refused or not found, and no failure.
import t from 'tap'
import { testService } from '../support/service.js'

const service = await testService(t, ['api'])
const headers = { authorization: `Bearer ${await service.token('operator', 'ops')}` }
const ask = async (method: string, path: string, body?: unknown) =>
  (await service.call(method, `/ops/api${path}`, body, { headers })).status
const texts = ['\0', '\ud83d', '../..', "';--", '<script>', '9'.repeat(30), 'x'.repeat(3_000)]
const addresses = ['%00', '%F0%9F', ...texts.slice(2).map(encodeURIComponent)]

t.test('addresses', async (t) => {
  const fields = ['user_id', 'assistant_id', 'url', 'reason', 'status', 'after']
  for (const place of ['/actions/', '/deliveries/', ...fields.map((field) => `/deliveries?${field}=`), '/webhooks?state=']) {
    for (const odd of addresses) t.ok(await ask('GET', place + odd) < 500, `${place}${odd.slice(0, 40)}`)
  }
})

t.test('bodies, and addresses that change something', async (t) => {
  const requests: [path: string, body?: object][] = [
    ...addresses.flatMap((odd): [string][] => [
      [`/projections/${odd}/replay`], [`/projections/leads/${odd}`], [`/projections/${odd}/close-breaker`],
      [`/webhooks/${odd}/resume`], [`/deliveries/${odd}/redeliver`]
    ]),
    ...texts.flatMap((text): [string, object][] => [
      ['/parked/retry', { projection: 'leads', stream: text }],
      ['/parked/retry', { projection: text, stream: 'lead-1' }],
      ['/parked/skip', { projection: 'leads', stream: text, revision: '0', reason: text }],
      ['/parked/skip', { projection: 'leads', stream: 'lead-1', revision: text, reason: 'a test' }]
    ])
  ]
  for (const [path, body] of requests) {
    const status = await ask('POST', path, body)
    t.ok(status >= 400 && status < 500, `${path.slice(0, 60)} ${JSON.stringify(body)?.slice(0, 80)}: ${status}`)
  }
})
