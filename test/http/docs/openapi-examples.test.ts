// Examples of the API document fit its schemas; answers are as documented, with no header that it does not name.
import t from 'tap'
import { importId } from '../../../src/http/docs/examples.js'
import { action } from '../../../src/ops/answers.js'
import { openApi } from '../../support/http/openapi.js'
import { testService } from '../../support/service.js'
import { newAssistant, newLead } from '../../support/bodies/bodies.js'

const { operations, fits } = await openApi()
const service = await testService(t, ['api', 'projector', 'worker'], { BASE_PATH: '/v1', WEBHOOK_SCHEDULE: '1h' })

t.test('every request body has an example that fits', async (t) => {
  for (const { name, operation: { requestBody } } of operations) {
    const media = requestBody?.content['application/json']
    if (media) t.same(fits(media.schema, media.example), [], name)
  }
})

t.test('the examples tell the truth: sent in this order, each is answered as documented', async (t) => {
  await service.parts.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type) VALUES ('1', 'delivery_exhausted')`) // it takes three days
  await service.parts.pool.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input, finished_at)
    VALUES ($1, 'lead-import', '1', 'completed', '{}', now())`, [importId]) // a worker does it
  await service.parts.pool.query(
    "INSERT INTO ledger.lead_import_results (import_id, row, outcome) VALUES ($1, 1, 'duplicate')", [importId])
  await service.parts.pool.query(`
    INSERT INTO ledger.projection_actions (id, projection, action) VALUES ('${action.id}', 'leads', 'replay');
    INSERT INTO ledger.parked_events (consumer, stream, revision, position, event_type, error)
      VALUES ('read_leads_g9', 'lead-9', 1, 1, 'LeadUpdated', 'malformed');
    INSERT INTO ledger.webhooks (assistant_id, user_id, url, suspended_at, suspended_reason)
      VALUES (9, '9', 'https://hooks.example.com', now(), 'gone');
    INSERT INTO ledger.work (id, kind, user_id, state, input) VALUES (gen_random_uuid(), 'of another release', '9', 'accepted', '{}')`)
  let position: string | null = null
  const writes = [
    'createAssistant', 'updateAssistant', 'createLead', 'completeCall', 'createApiKey', 'blacklistPhoneNumber', 'exportPerson'
  ]
  let asked = '' // of the person request: its id is chosen anew each time
  const reads =
    operations.flatMap(({ method, operation: { operationId = '' } }) => method === 'GET' && !/^(export|download|is(Live|Ready)$)/.test(operationId) ? [operationId] : [])
  for (const id of [...writes, ...reads]) {
    const found = operations.find(({ operation }) => operation.operationId === id)
    if (!found) throw new Error(`${id} is not in the document`)
    const { method, path, operation } = found
    const [, role] = /^\/(engine|ops)\//.exec(path) ?? []
    const headers: Record<string, string> = role ? { authorization: `Bearer ${await service.token(role, role)}` } : {}
    const url = path.replace(/\{\w+\}/g, (name) =>
      id === 'getPersonRequest' ? asked : String(operation.parameters?.find((parameter) => `{${parameter.name}}` === name)?.example))
    const query = id === 'isBlacklisted' ? '?assistant_id=1' : '' // no other has to be asked more
    if (position) headers['x-read-position'] = position
    const { status, body, headers: answered } =
      await service.call(method, `/v1${url}${query}`, operation.requestBody?.content['application/json'].example, { headers })
    const media = operation.responses[status]?.content?.['application/json']
    const example = media?.examples?.[id]?.value ?? media?.example
    t.ok(String(status).startsWith('2') && media, `${id} answers ${status}`)
    t.same(keysOf(body), keysOf(example), `${id} has the keys of its example`)
    t.same(fits(media?.schema ?? {}, body), [])
    if (id === 'createAssistant' || id === 'updateAssistant') t.same(body, example)
    if (id === 'exportPerson') asked = body.data.id
    if (!reads.includes(id)) position = answered.get('x-read-position')
  }
})

function keysOf (value: unknown): string[] {
  if (Array.isArray(value)) return keysOf(value[0])
  return Object.entries(value ?? {}).flatMap(([key, inner]) => key === 'data' ? keysOf(inner) : [key]).sort()
}

/** Of every answer, whatever it is: of HTTP itself, and what guards pages of browsers. */
const general = /^(cache-control|connection|content-(length|type|security-policy)|cross-origin-.*|date|keep-alive|origin-agent-cluster|permissions-policy|referrer-policy|strict-transport-security|transfer-encoding|vary|x-(content-type-options|dns-prefetch-control|download-options|frame-options|permitted-cross-domain-policies|xss-protection))$/

/** Of every answer to a user: told once, as three references in each success were a seventeenth of the document. */
const ofUsers = /^x-ratelimit-(limit|remaining|reset)$/

const json = { 'content-type': 'application/json' }
const requestsWith = (key: string): Array<[title: string, headers: Record<string, string>, body?: string]> => [
  ['with a key', { ...json, 'idempotency-key': 'k-1', 'x-correlation-id': 'c-1' }, '{}'],
  ['with the key again, and what nobody knows', { ...json, 'idempotency-key': 'k-1' }, '{"bogus": 1}'],
  ['with a body that is encoded', { ...json, 'content-encoding': 'gzip' }, 'x'],
  ['without a token', { authorization: 'Bearer x' }],
  ['with a key that may only read', { authorization: `Bearer ${key}` }]
]

t.test('whatever is asked, no answer has a status or a header that is not in the document', async (t) => {
  const made = await service.call('POST', '/v1/user/assistant', newAssistant())
  const { id } = made.body.data
  await service.call('POST', '/v1/user/lead', newLead())
  const limited = await service.start(['api'], { RATE_LIMIT_PER_MINUTE: '1' })
  const tokens = { user: await service.token('1'), engine: await service.token('e', 'engine') }
  const key = (await service.call('POST', '/v1/user/api-key', { name: 'k', scopes: ['read'] })).body.data.key
  const requests = requestsWith(key)
  for (const [url, asked] of [[service.url, requests], [limited.url, requests.slice(0, 1)]] as const) {
    for (const { name, method, path, operation } of operations) {
      for (const [title, headers, body] of asked) {
        if (method === 'GET' && body !== undefined && title !== asked[0]?.[0]) continue // no GET reads it
        const answer = await fetch(addressOf(url, method, path, id), {
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

/** Of something that is there; nothing that is needed is deleted. */
function addressOf (url: string, method: string, path: string, id: number): string {
  const asked = path.replace('{id}', method === 'DELETE' ? '999' : String(id)).replace(/\{\w+\}/, 'c-1')
  return `${url}${path.startsWith('/health/') ? '' : '/v1'}${asked}?bogus=1`
}
