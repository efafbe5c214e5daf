// The examples of the API document fit its schemas, and are answered as documented.
import t from 'tap'
import { importId } from '../../../src/http/docs/examples.js'
import { openApi } from '../../support/http/openapi.js'
import { testService } from '../../support/service.js'

const { document, operations, resolved, fits } = await openApi()
const service = await testService(t, ['api', 'projector', 'worker'], { BASE_PATH: '/v1', WEBHOOK_SCHEDULE: '1h' })

t.test('every request body has an example that fits', async (t) => {
  for (const { name, operation: { requestBody } } of operations) {
    const media = requestBody?.content['application/json']
    if (media) t.same(fits(media.schema, media.example), [], name)
  }
})

t.test('every webhook is described with its headers, and its example fits', async (t) => {
  const schemas = { 'call.completed': 'WebhookPayload', 'webhook.test': 'WebhookTest' }
  t.same(Object.keys(document.webhooks), Object.keys(schemas))
  for (const [type, schema] of Object.entries(schemas)) {
    const { post } = resolved(document.webhooks[type])
    const media = post.requestBody.content['application/json']
    t.equal(media.example.type, type)
    t.same(fits(media.schema, media.example), [])
    t.same(media.schema, { $ref: `#/components/schemas/${schema}` })
    t.same(post.parameters.map(({ name }: { name: string }) => name), [
      'webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-attempt'
    ])
  }
})

t.test('the examples tell the truth: sent in this order, each is answered as documented', async (t) => {
  await service.parts.pool.query(`
    INSERT INTO ledger.webhook_notices (user_id, type) VALUES ('1', 'delivery_exhausted')`) // it takes three days
  await service.parts.pool.query(`
    INSERT INTO ledger.background_requests (id, kind, user_id, state, input, finished_at)
    VALUES ($1, 'lead-import', '1', 'completed', '{}', now())`, [importId]) // a worker does it
  await service.parts.pool.query(
    "INSERT INTO ledger.lead_import_results (import_id, row, outcome) VALUES ($1, 1, 'duplicate')", [importId])
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
    const headers: Record<string, string> =
      path.startsWith('/engine') ? { authorization: `Bearer ${await service.token('engine', 'engine')}` } : {}
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
