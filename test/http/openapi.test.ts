import { readFile, readdir } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { AssistantSettings, defaultSettings } from '../../src/domain/assistant/settings.js'
import { documented } from '../../src/http/docs/refusals.js'
import { testService } from '../support/service.js'

interface Media { schema: object, example?: unknown }
interface Described {
  description?: string
  headers?: Record<string, object>
  content?: Record<'application/json', Media>
}
interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  security?: object[]
  parameters?: Array<{ name: string, in: string, description?: string, example?: unknown }>
  requestBody?: Required<Pick<Described, 'content'>>
  responses: Record<string, Described>
}

const service = await testService(t, ['api', 'projector', 'worker'], { BASE_PATH: '/v1', WEBHOOK_SCHEDULE: '1h' })
const { body: document } = await service.call('GET', '/v1/docs/json')
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) =>
    ({ path, method: method.toUpperCase(), operation, name: `${method.toUpperCase()} ${path}` })))

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ $id: 'api', components: document.components })
const fits = (schema: object, value: unknown) => {
  const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')))
  return check(value) ? [] : check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

t.test('the document is valid OpenAPI 3.1', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.same(await new Validator().validate(document), { valid: true })
  t.same(document.servers, [{ url: '/v1' }])
  t.same(document.components.securitySchemes.bearer.scheme, 'bearer')
})

t.test('every route of the code is in it', async (t) => {
  const files = await Promise.all(['src/commands', 'src/queries']
    .map(async (folder) => (await readdir(folder)).map((file) => `${folder}/${file}`)))
  for (const file of files.flat()) {
    for (const [, method = '', url = ''] of (await readFile(file, 'utf8'))
      .matchAll(/\bapp\.(get|post|put|patch|delete)\('([^']+)'/g)) {
      t.ok(document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method], `${method} ${url}`)
    }
  }
})

t.test('every route says what it is for, who may call it, and answers with an example', async (t) => {
  t.equal(
    new Set(operations.map(({ operation }) => operation.operationId)).size,
    operations.length,
    'each has an operationId of its own'
  )
  for (const { name, operation } of operations) {
    t.match(operation, { operationId: /^[a-z]\w+$/, summary: /\w/ }, name)
    t.same(operation.security, [{ bearer: [] }], `${name} needs a token`)
    for (const tag of operation.tags ?? ['(none)']) {
      t.ok(document.tags.some((known: { name: string }) => known.name === tag), `${name}: tag ${tag}`)
    }
    t.equal(
      Object.keys(operation.responses).filter((status) => status.startsWith('2')).length, 1, `${name} has one success`
    )
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      t.not(description, 'Default Response', `${name} ${status} is described`)
      const media = content?.['application/json']
      t.ok(media?.example !== undefined, `${name} ${status} has an example`)
      if (media) t.same(fits(media.schema, media.example), [], `${name} ${status}: the example fits`)
    }
    for (const { name: parameter, description } of operation.parameters ?? []) {
      t.ok(description, `${name}: ${parameter} is described`)
    }
  }
})

t.test('every request body has an example that fits', async (t) => {
  for (const { name, operation: { requestBody } } of operations) {
    const media = requestBody?.content['application/json']
    if (media) t.same(fits(media.schema, media.example), [], name)
  }
})

t.test('every route documents its errors', async (t) => {
  for (const { name, path, operation: { responses, requestBody, parameters = [] } } of operations) {
    const reads = (header: string) =>
      parameters.some((parameter) => parameter.in === 'header' && parameter.name === header)
    const wanted = ['401', '403', '500', '503',
      ...(requestBody ? ['400', '413', '415', '422'] : []),
      ...(path.startsWith('/user/') ? ['429'] : []),
      ...(reads('Idempotency-Key') ? ['409'] : []),
      ...(reads('If-Match') ? ['404', '412'] : [])]
    t.same(wanted.filter((status) => !responses[status]), [], name)
    t.ok(responses[503]?.headers?.['Retry-After'], `${name}: 503 says when to try again`)
    for (const response of Object.values(responses)) t.ok(response.headers?.['X-Correlation-Id'])
  }
})

t.test('writes document the headers that they read and answer', async (t) => {
  const { put } = document.paths['/user/assistant/{id}']
  t.same(put.parameters.map(({ name }: { name: string }) => name), [
    'id', 'Idempotency-Key', 'If-Match', 'X-Correlation-Id'
  ])
  t.match(Object.keys(put.responses[200].headers), [
    'ETag', 'X-Read-Position', 'X-Read-Model', 'X-Ignored-Fields', 'Idempotent-Replayed'
  ])
})

t.test('defaults and limits of every assistant field show on create, and no defaults on update', async (t) => {
  const { NewAssistant, AssistantChanges } = document.components.schemas
  for (const [name, value] of Object.entries(defaultSettings())) {
    t.same(NewAssistant.properties[name].default, value, name)
  }
  for (const name of Object.keys(AssistantSettings.properties)) {
    const { default: _, ...shown } = NewAssistant.properties[name]
    t.same(AssistantChanges.properties[name], shown, name)
    t.ok(shown.description && (shown.type ?? shown.$ref), `${name} is described`)
  }
  t.match(NewAssistant.properties.speech_speed, { minimum: 0.7, maximum: 1.2, default: 1 })
  t.match(NewAssistant.properties.assistant_name, { maxLength: 255 })
})

t.test('a route that says little is documented all the same', async (t) => {
  const { response } = documented({
    url: '/user/things', schema: { security: [{ bearer: [] }] }, config: { failure: 'Nothing came of it' }
  })
  t.same(Object.keys(response ?? {}), ['401', '403', '429', '500', '503'])
  t.match(response, { 500: { examples: [{ message: 'Nothing came of it' }] } })
})

t.test('every webhook is described with its headers, and its example fits', async (t) => {
  const schemas = { 'call.completed': 'WebhookPayload', 'webhook.test': 'WebhookTest' }
  t.same(Object.keys(document.webhooks), Object.keys(schemas))
  for (const [type, schema] of Object.entries(schemas)) {
    const { post } = document.webhooks[type]
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
  let position: string | null = null
  const writes = ['createAssistant', 'updateAssistant', 'createLead', 'completeCall']
  const reads =
    operations.flatMap(({ method, operation: { operationId = '' } }) => method === 'GET' ? [operationId] : [])
  for (const id of [...writes, ...reads]) {
    const found = operations.find(({ operation }) => operation.operationId === id)
    if (!found) throw new Error(`${id} is not in the document`)
    const { method, path, operation } = found
    const headers: Record<string, string> =
      path.startsWith('/engine') ? { authorization: `Bearer ${await service.token('engine', 'engine')}` } : {}
    const url = path.replace(/\{\w+\}/g, (name) =>
      String(operation.parameters?.find((parameter) => `{${parameter.name}}` === name)?.example))
    if (position) headers['x-read-position'] = position
    const { status, body, headers: answered } =
      await service.call(method, `/v1${url}`, operation.requestBody?.content['application/json'].example, { headers })
    const media = operation.responses[status]?.content?.['application/json']
    t.ok(String(status).startsWith('2') && media, `${id} answers ${status}`)
    t.same(keysOf(body), keysOf(media?.example), `${id} has the keys of its example`)
    t.same(fits(media?.schema ?? {}, body), [])
    if (id === 'createAssistant' || id === 'updateAssistant') t.same(body, media?.example)
    if (!reads.includes(id)) position = answered.get('x-read-position')
  }
})

function keysOf (value: unknown): string[] {
  if (Array.isArray(value)) return keysOf(value[0])
  return Object.entries(value ?? {}).flatMap(([key, inner]) => key === 'data' ? keysOf(inner) : [key]).sort()
}
