// The API document: described, with its errors, in words that generators of clients take, and sent once.
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { originOf } from '../../../src/http/docs/document.js'
import { appAlone, openApi } from '../../support/http/openapi.js'
import { configOf } from '../../support/service.js'

const { app, document, operations, fits, text } = await openApi()

t.test('the document is valid OpenAPI 3.1', async (t) => {
  t.equal(document.openapi, '3.1.0')
  t.same(await new Validator().validate(document), { valid: true })
  t.same(document.servers, [{ url: '/v1' }])
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
      const examples = [{ value: media?.example }, ...Object.values(media?.examples ?? {})]
        .flatMap(({ value }) => value === undefined ? [] : [value])
      t.ok(examples.length > 0, `${name} ${status} has an example`)
      for (const each of examples) t.same(fits(media?.schema ?? {}, each), [], `${name} ${status}: the example fits`)
    }
    const body = operation.requestBody?.content['application/json']
    if (body) t.same(fits(body.schema, body.example), [], `${name}: the example of a request fits`)
    for (const { name: parameter, description } of operation.parameters ?? []) {
      t.ok(description, `${name}: ${parameter} is described`)
    }
  }
})

t.test('every route documents its errors: what depends on it by status, and the rest as its default, in one model', async (t) => {
  for (const { name, path, operation: { responses, requestBody, parameters = [] } } of operations) {
    const reads = parameters.some((parameter) => parameter.in === 'header' && parameter.name === 'If-Match')
    const wanted = ['default', ...(requestBody ? ['422'] : []), ...(reads ? ['404'] : [])]
    t.same(wanted.filter((status) => !responses[status]), [], name)
    t.ok(responses.default?.headers?.['Retry-After'], `${name}: it says when to try again`)
    for (const [status, { headers, content }] of Object.entries(responses)) {
      t.ok(headers?.['X-Correlation-Id'])
      if (status.startsWith('2') || (path === '/health/ready' && status === '503')) continue
      t.same(content?.['application/json'].schema, { $ref: '#/components/schemas/Error' }, `${name} ${status}`)
    }
  }
  const { description } = document.components.responses.Refused
  for (const status of [400, 401, 403, 409, 410, 412, 413, 415, 429, 500, 503]) t.match(description, `- ${status}: `)
})

type Schema = Record<string, unknown>
const schemas: Record<string, Schema> = document.components.schemas

/** Every object in the value, but not inside examples, which may look like anything. */
function * within (value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Schema
  for (const [key, part] of Object.entries(value)) if (!['example', 'examples', 'enum'].includes(key)) yield * within(part)
}

const everything = [...within(document)]
const typesOf = ({ type }: Schema) => [type].flat()

t.test('generators of clients take the schemas: named, without constants, with wide numbers, null beside a reference', async (t) => {
  t.same([...within([schemas, document.components.responses])].filter((part) => 'default' in part), [], 'it is in the description')
  const named = new Set<unknown>(Object.values(schemas))
  const isNameless = (part: Schema) => !named.has(part) && (
    (typesOf(part).includes('object') && 'properties' in part) || (Array.isArray(part.enum) && part.enum.length > 1))
  t.same(everything.filter(isNameless), [])
  t.same(everything.filter((part) => 'const' in part || ('properties' in part && 'additionalProperties' in part)), [])
  t.same(Object.keys(schemas).filter((name) => typesOf(schemas[name] ?? {}).includes('null')), [])
  for (const part of everything) {
    if ('anyOf' in part) t.match(part.anyOf, [{ $ref: /\w/ }, { type: 'null' }])
    if (typesOf(part).includes('integer')) t.equal(part.format, 'int64')
    if (typesOf(part).includes('number')) t.equal(part.format, 'double')
    if (typeof part.format === 'string') t.match(part.format, /^(int64|double|date-time)$/)
    if (part.pattern !== undefined) t.notMatch(part.pattern, /\(\?[=!<]/, 'it looks around')
  }
})

t.test('a field that is not described is in the schema that its own one names', async (t) => {
  const field = (name: string, of: string) => Object(schemas[of]?.properties)[name]
  for (const [name, { description, properties = {} }] of Object.entries(schemas)) {
    const [, by = name] = /What is not described here is as in (\w+)\.$/.exec(String(description)) ?? []
    const bare = Object.keys(properties ?? {}).filter((key) => by !== name && !field(key, name).description)
    t.same(bare.filter((key) => !field(key, by)), [], `${name}, as in ${by}`)
  }
})

t.test('the document has less than 220 KB, with room for a few more routes', async (t) => {
  const bytes = Buffer.byteLength(text)
  t.ok(bytes < 220_000, `${bytes} bytes`)
})

const older = (await app.inject('/v1/docs/json?openapi=3.0')).json()
const ofOlder = [...within(older)]
const namesOf = (values: object) => Object.keys(values).sort()
const count = (parts: Iterable<Schema>, holds: (part: Schema) => unknown) => [...parts].filter(holds).length

t.test('in OpenAPI 3.0 it is valid, too, with every operation, every part and every null', async (t) => {
  t.equal(older.openapi, '3.0.3')
  t.same(await new Validator().validate(older), { valid: true })
  for (const [path, methods] of Object.entries<object>(document.paths)) {
    t.same(namesOf(older.paths[path]), namesOf(methods), path)
  }
  for (const kind of namesOf(document.components)) {
    t.same(namesOf(older.components[kind]), namesOf(document.components[kind]), kind)
  }
  const nulls = count(within(document.components), ({ type, anyOf }) =>
    (Array.isArray(type) && type.includes('null')) || Array.isArray(anyOf))
  t.equal(count(within(older.components), ({ nullable }) => nullable === true), nulls)
})

t.test('for clients in Rust a choice in a query is no mere reference, for those in Python a part of a choice is one', async (t) => {
  const schemas = ofOlder.filter((part) => part.in === 'query').map(({ schema }) => Object(schema))
  t.ok(schemas.some(({ allOf }) => allOf?.length === 1 && allOf[0].$ref))
  t.same(schemas.filter((schema) => '$ref' in schema), [])
  const choices = ofOlder.flatMap(({ oneOf }) => Array.isArray(oneOf) ? oneOf : [])
  t.ok(choices.length > 1)
  t.same(choices.filter((choice) => Object.keys(Object(choice)).join() !== '$ref'), [])
})

async function get (url: string, headers: Record<string, string> = {}) {
  const answer = await app.inject({ url: `/v1${url}`, headers })
  return { status: answer.statusCode, headers: answer.headers, text: answer.body }
}

t.test('the document has an ETag, and a GET that names it is a 304', async (t) => {
  for (const [path, type] of [['/docs/json', 'application/json; charset=utf-8'], ['/docs/yaml', 'application/x-yaml']]) {
    const first = await get(String(path))
    t.equal(first.status, 200)
    t.equal(first.headers['content-type'], type)
    t.equal(first.headers['cache-control'], 'no-cache')
    const etag = String(first.headers.etag)
    t.match(etag, /^"[\w-]{27}"$/)
    const { status, headers, text } = await get(String(path), { 'if-none-match': `"other", W/${etag}` })
    t.strictSame([status, text, headers.etag], [304, '', etag])
    t.equal((await get(String(path), { 'if-none-match': '"other"' })).status, 200)
  }
})

t.test('without its webhooks it is the same document, for generators that do not know the section', async (t) => {
  const [whole, without] = [await get('/docs/json'), await get('/docs/json?webhooks=false')]
  const { webhooks, ...rest } = JSON.parse(whole.text)
  t.ok(webhooks['call.completed'])
  t.strictSame(JSON.parse(without.text), rest)
  t.not(without.headers.etag, whole.headers.etag)
})

t.test('its servers are where callers find the API: PUBLIC_URL with BASE_PATH', async (t) => {
  const { basePath, publicUrl } = configOf({ BASE_PATH: '/v1', PUBLIC_URL: 'https://example.com/voice' })
  const { servers, paths } = (await (await appAlone({ basePath, publicUrl })).inject('/v1/docs/json')).json()
  t.ok(paths['/user/lead'].post, 'paths are below it')
  const at = (url: string) => [{ url }]
  t.strictSame([servers, paths['/health/live'].get.servers], [at('https://example.com/voice/v1'), at('https://example.com/voice')])
  t.strictSame(originOf(''), { servers: at('/') })
  t.strictSame(originOf('', 'https://api.example.com/'), { servers: at('https://api.example.com') })
  t.strictSame(originOf('/v1', 'https://example.com/voice/v1'), originOf('/v1', 'https://example.com/voice'), 'once')
})
