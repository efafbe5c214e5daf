// The API document: every route is in it, described, with its errors.
import { readFile, readdir } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { AssistantSettings, defaultSettings } from '../../../src/features/assistants/events.js'
import { documented } from '../../../src/http/docs/describe.js'
import { examplesOf, openApi } from '../../support/http/openapi.js'

const { document, operations, resolved, fits } = await openApi()

t.test('the document is valid OpenAPI 3.1', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.same(await new Validator().validate(document), { valid: true })
  t.same(document.servers, [{ url: '/v1' }])
  t.match(document.components.securitySchemes, {
    bearer: { scheme: 'bearer', bearerFormat: 'JWT' }, bearerOrKey: { scheme: 'bearer' }
  })
})

t.test('every route of the code is in it', async (t) => {
  const files = await readdir('src/features', { recursive: true })
  for (const file of files.filter((name) => name.endsWith('.ts')).map((name) => `src/features/${name}`)) {
    for (const [, method = '', url = ''] of (await readFile(file, 'utf8'))
      .matchAll(/\bapp\.(get|post|put|patch|delete)\('([^']+)'/g)) {
      t.ok(document.paths[url.replaceAll(/:(\w+)/g, '{$1}')]?.[method], `${method} ${url}`)
    }
  }
})

/** No key manages keys or asks for the data of persons, or reports calls. */
const takesKeys = (path: string) => path.startsWith('/user/') && !/^\/user\/(api-key|person)/.test(path)

t.test('every route says what it is for, who may call it, and answers with an example', async (t) => {
  t.equal(
    new Set(operations.map(({ operation }) => operation.operationId)).size,
    operations.length,
    'each has an operationId of its own'
  )
  for (const { name, path, operation } of operations) {
    t.match(operation, { operationId: /^[a-z]\w+$/, summary: /\w/ }, name)
    const token = path.startsWith('/health/') ? [] : [{ bearer: [] }]
    t.same(operation.security ?? document.security, takesKeys(path) ? [{ bearerOrKey: [] }] : token, `${name} needs a token`)
    for (const tag of operation.tags ?? ['(none)']) {
      t.ok(document.tags.some((known: { name: string }) => known.name === tag), `${name}: tag ${tag}`)
    }
    const successes = Object.keys(operation.responses).filter((status) => status.startsWith('2'))
    const expected = operation.operationId === 'blacklistPhoneNumber' ? 2 : 1 // what was there already is no new entry
    t.equal(successes.length, expected, `${name} has one success`)
    for (const [status, { description, content }] of Object.entries(operation.responses)) {
      t.not(description, 'Default Response', `${name} ${status} is described`)
      const [media] = Object.values(content ?? {})
      const examples = media ? examplesOf(media) : []
      t.ok(examples.length > 0, `${name} ${status} has an example`)
      for (const each of examples) t.same(fits(media?.schema ?? {}, each), [], `${name} ${status}: the example fits`)
    }
    for (const { name: parameter, description } of operation.parameters ?? []) {
      t.ok(description, `${name}: ${parameter} is described`)
    }
  }
})

t.test('every route documents its errors: what depends on it by status, and the rest as its default', async (t) => {
  for (const { name, operation: { responses, requestBody, parameters = [] } } of operations) {
    const reads = (header: string) =>
      parameters.some((parameter) => parameter.in === 'header' && parameter.name === header)
    const wanted = ['default',
      ...(requestBody ? ['422'] : []),
      ...(reads('If-Match') ? ['404'] : [])]
    t.same(wanted.filter((status) => !responses[status]), [], name)
    t.ok(responses.default?.headers?.['Retry-After'], `${name}: it says when to try again`)
    for (const response of Object.values(responses)) t.ok(response.headers?.['X-Correlation-Id'])
  }
  const { description } = document.components.responses.Refused
  for (const status of [400, 401, 403, 409, 410, 412, 413, 415, 429, 500, 503]) t.match(description, `- ${status}: `)
})

t.test('writes document the headers that they read and answer', async (t) => {
  const { put } = resolved(document.paths['/user/assistant/{id}'])
  t.same(put.parameters.map(({ name }: { name: string }) => name), [
    'id', 'Idempotency-Key', 'If-Match', 'X-Correlation-Id'
  ])
  t.match(Object.keys(put.responses[200].headers), [
    'ETag', 'X-Read-Position', 'X-Read-Model', 'X-Ignored-Fields', 'Idempotent-Replayed'
  ])
})

t.test('ids in paths are integers, as the answers give them; names of calls and deliveries are text', async (t) => {
  for (const { name, path, operation: { parameters = [] } } of operations) {
    for (const parameter of parameters.filter((each) => each.in === 'path')) {
      const isInteger = /^\/user\/(assistant|lead|campaign|phone-number|api-key|blacklist)\//.test(path)
      const expected = isInteger ? { type: 'integer', minimum: 1 } : { type: /^string$/ }
      t.match(parameter, { required: true, schema: expected }, name)
    }
  }
  t.notMatch(JSON.stringify(document), /x-documented/)
})

t.test('defaults and limits of every assistant field are told on create, and no defaults on update', async (t) => {
  const { AssistantInput, AssistantChanges } = document.components.schemas
  const told: Record<string, string> = Object.fromEntries(Object.entries(defaultSettings()).map(([name, value]) =>
    [name, ` Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`]))
  for (const name of Object.keys(AssistantSettings.properties)) {
    const { description, ...shown } = AssistantInput.properties[name]
    t.same(AssistantChanges.properties[name], shown, `${name}: what it means is told once`)
    t.ok(description.endsWith(told[name] ?? '') && (shown.type ?? shown.$ref ?? shown.anyOf), `${name} is described`)
  }
  t.match(AssistantChanges, { description: /as in AssistantInput/, properties: { status: { description: /\w/ } } })
  t.match(AssistantInput.properties.speech_speed, { minimum: 0.7, maximum: 1.2, description: /Default: 1\.$/ })
  t.match(AssistantInput.properties.assistant_name, { maxLength: 255 })
})

t.test('a route that says little is documented all the same', async (t) => {
  const { response } = documented({
    method: 'GET', url: '/user/things', schema: { security: [{ bearer: [] }] }, config: { failure: 'Nothing came of it' }
  })
  t.same(Object.keys(response ?? {}), ['default'])
  t.match(response, { default: { 'x-response-description': /^- 401: .*^- 500: /ms } })
})
