// The API document: every route is in it, described, with its errors.
import { readFile, readdir } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { AssistantSettings, defaultSettings } from '../../../src/features/assistants/events.js'
import { examplesOf, openApi, type Operation } from '../../support/http/openapi.js'

const { document, operations, resolved, fits, text } = await openApi()

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

t.test('ids in paths are integers, as the answers give them; names of calls and deliveries are text', async (t) => {
  for (const { name, path, operation: { parameters = [] } } of operations) {
    for (const parameter of parameters.filter((each) => each.in === 'path')) {
      const isInteger = /^\/(user\/(assistant|lead|campaign|phone-number|api-key|blacklist)|ops\/api\/webhooks)\//.test(path)
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

type Schema = Record<string, unknown>
const schemas: Record<string, Schema> = document.components.schemas
const webhooks: Record<string, { post: Operation }> = resolved(document.webhooks)

/** Every object in the value, but not inside examples, which may look like anything. */
function * within (value: unknown): Generator<Schema> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Schema
  for (const [key, part] of Object.entries(value)) if (!['example', 'examples', 'enum'].includes(key)) yield * within(part)
}

const everything = [...within(document)]
const typesOf = ({ type }: Schema) => [type].flat()

t.test('no operation of the paths has the tag of a webhook: the operations of a tag are one file', async (t) => {
  const sent = Object.values(webhooks).flatMap(({ post }) => post.tags ?? [])
  t.ok(sent.length > 0)
  t.same(operations.filter(({ operation }) => operation.tags?.some((tag) => sent.includes(tag))), [])
})

t.test('no schema is called what a generator calls something of another: NewX, XWithDefaults, NullableX', async (t) => {
  for (const name of ['AssistantInput', 'LeadInput', 'SecondaryContactInput', 'Error']) t.ok(schemas[name], name)
  for (const name of Object.keys(schemas)) {
    for (const made of [`New${name}`, `${name}WithDefaults`, `Nullable${name}`]) t.notOk(schemas[made], made)
  }
})

t.test('an operation has one login at most: of two that are each enough, a client sends the header twice', async (t) => {
  const logins = operations.map(({ operation: { security = document.security } }) => security.flatMap(Object.keys))
  t.same(logins.filter(({ length }) => length > 1), [])
  t.same([...new Set(logins.flat())].sort(), Object.keys(document.components.securitySchemes).sort())
})

t.test('bodies and answers have no default: it is in the description', async (t) => {
  t.same([...within([schemas, document.components.responses])].filter((part) => 'default' in part), [])
  const { variables, post_call_schema } = Object(schemas.AssistantInput?.properties)
  t.match(variables.description, /Default: \{\}\.$/)
  t.match(post_call_schema.description, /Default: \[\{.*\}\]\.$/)
})

t.test('a query parameter that has a default, or may be absent, is not required', async (t) => {
  const inQuery = operations.flatMap(({ name, operation: { parameters = [] } }) =>
    parameters.filter((each) => each.in === 'query').map((each) => ({ ...each, of: name })))
  t.same(inQuery.filter(({ required, schema }) => required && schema.default !== undefined), [])
  t.same(inQuery.filter(({ required }) => required).map(({ of, name }) => `${of} ${name}`),
    ['GET /engine/blacklist/{phone_number} assistant_id'])
})

t.test('an object has named fields or free ones, not both', async (t) => {
  t.same(everything.filter((part) => 'properties' in part && 'additionalProperties' in part), [])
})

t.test('a choice of objects is one of them; null is a choice beside a named object, never inside it', async (t) => {
  t.match(schemas.WebhookPayload, { properties: { data: { oneOf: [{}, {}] } } })
  for (const { anyOf } of everything.filter((part) => 'anyOf' in part)) t.match(anyOf, [{ $ref: /\w/ }, { type: 'null' }])
  t.same(Object.keys(schemas).filter((name) => typesOf(schemas[name] ?? {}).includes('null')), [])
})

t.test('nothing is a constant, and no regular expression looks around', async (t) => {
  t.same(everything.filter((part) => 'const' in part), [])
  for (const { pattern } of everything) if (pattern !== undefined) t.notMatch(pattern, /\(\?[=!<]/)
})

t.test('every refusal has one model', async (t) => {
  for (const { name, path, operation: { responses } } of operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      if (status.startsWith('2') || (path === '/health/ready' && status === '503')) continue
      t.same(content?.['application/json'].schema, { $ref: '#/components/schemas/Error' }, `${name} ${status}`)
    }
  }
  t.match(schemas.Error, { required: ['message'], properties: { message: {}, errors: {} } })
})

t.test('numbers say how wide they are, and no format is of our own', async (t) => {
  for (const part of everything) {
    if (typesOf(part).includes('integer')) t.equal(part.format, 'int64')
    if (typesOf(part).includes('number')) t.equal(part.format, 'double')
    if (typeof part.format === 'string') t.match(part.format, /^(int64|double|date-time)$/)
  }
})

t.test('headers of requests have the patterns that they are held to', async (t) => {
  for (const { name, operation: { parameters = [] } } of operations) {
    for (const { name: header, schema } of parameters) {
      if (['X-Read-Position', 'Idempotency-Key'].includes(header)) t.ok(schema.pattern, `${name}: ${header}`)
    }
  }
})

t.test('every object and every choice has a name', async (t) => {
  const named = new Set<unknown>(Object.values(schemas))
  const isNameless = (part: Schema) => !named.has(part) && (
    (typesOf(part).includes('object') && 'properties' in part) || (Array.isArray(part.enum) && part.enum.length > 1))
  t.same(everything.filter(isNameless), [])
})

t.test('a field that is not described is in the schema that its own one names', async (t) => {
  const field = (name: string, of: string) => Object(schemas[of]?.properties)[name]
  for (const [name, { description, properties = {} }] of Object.entries(schemas)) {
    const [, by] = /What is not described here is as in (\w+)\.$/.exec(String(description)) ?? []
    const bare = Object.keys(properties ?? {}).filter((key) => by && !field(key, name).description)
    t.same(bare.filter((key) => !field(key, by ?? '')), [], `${name}, as in ${by}`)
    if (by) t.ok(bare.length > 0, `${name} repeats words of ${by}`)
  }
})

t.test('it has less than 220 KB as it is served, with room for a few routes more', async (t) => {
  const bytes = Buffer.byteLength(text)
  t.ok(bytes < 220_000, `${bytes} bytes`)
})
