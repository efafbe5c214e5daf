// Every header that an answer has is declared where the API document tells of that answer.
import t from 'tap'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'
import { openApi } from '../../support/http/openapi.js'
import { testService } from '../../support/service.js'

const { document, operations } = await openApi()
const service = await testService(t, ['api', 'projector', 'worker'], { BASE_PATH: '/v1', WEBHOOK_SCHEDULE: '1h' })

/** Of every answer, whatever it is: of HTTP itself, and what guards pages of browsers. */
const general = /^(cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|origin-agent-cluster|permissions-policy|referrer-policy|strict-transport-security|transfer-encoding|vary|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/

/** Of every answer to a user: told once, as three references in each success were a seventeenth of the document. */
const ofUsers = /^x-ratelimit-(limit|remaining|reset)$/

const made = await service.call('POST', '/v1/user/assistant', newAssistant())
if (made.status !== 201) throw new Error(JSON.stringify(made.body))
const { id } = made.body.data
await service.call('POST', '/v1/user/lead', newLead())
const limited = await service.start(['api'], { RATE_LIMIT_PER_MINUTE: '1' })
const tokens = { user: await service.token('1'), engine: await service.token('e', 'engine') }
const key = (await service.call('POST', '/v1/user/api-key', { name: 'k', scopes: ['read'] })).body.data.key

const json = { 'content-type': 'application/json' }
const requests: Array<[title: string, headers: Record<string, string>, body?: string]> = [
  ['with a key', { ...json, 'idempotency-key': 'k-1', 'x-correlation-id': 'c-1' }, '{}'],
  ['with the key again, and what nobody knows', { ...json, 'idempotency-key': 'k-1' }, '{"bogus": 1}'],
  ['with a body that is encoded', { ...json, 'content-encoding': 'gzip' }, 'x'],
  ['without a token', { authorization: 'Bearer x' }],
  ['with a key that may only read', { authorization: `Bearer ${key}` }]
]

t.test('whatever is asked, no answer has a status or a header that is not in the document', async (t) => {
  for (const [url, asked] of [[service.url, requests], [limited.url, requests.slice(0, 1)]] as const) {
    for (const { name, method, path, operation } of operations) {
      for (const [title, headers, body] of asked) {
        const answer = await fetch(addressOf(url, method, path), {
          method,
          headers: { authorization: `Bearer ${path.startsWith('/engine/') ? tokens.engine : tokens.user}`, ...headers },
          ...(method !== 'GET' && body !== undefined && { body })
        })
        await answer.arrayBuffer()
        const described = operation.responses[answer.status] ?? operation.responses.default
        const declared = Object.keys(described?.headers ?? {}).map((header) => header.toLowerCase())
        const found = [...answer.headers.keys()].filter((header) => !general.test(header))
        const wanted = found.filter((header) => !ofUsers.test(header) || answer.status >= 400)
        t.same(wanted.filter((header) => !declared.includes(header)), [], `${name} ${title}: ${answer.status}`)
      }
    }
  }
})

t.test('how many requests are left is told of all answers, and declared where they are refused', async (t) => {
  for (const header of ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']) {
    t.match(document.info.description, `\`${header}\``)
    t.ok(document.components.responses.Refused.headers[header], header)
  }
})

/** Of something that is there; nothing that is needed is deleted. */
function addressOf (url: string, method: string, path: string): string {
  const asked = path.replace('{id}', method === 'DELETE' ? '999' : String(id)).replace(/\{\w+\}/, 'c-1')
  return `${url}${path.startsWith('/health/') ? '' : '/v1'}${asked}?bogus=1`
}
