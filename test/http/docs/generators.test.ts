// What the API document leaves out or spells out, because generators of clients stumble over it. Each was met in one.
import t from 'tap'
import { openApi, type Operation } from '../../support/http/openapi.js'

type Schema = Record<string, unknown>

const { text, document, operations, resolved } = await openApi()
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

t.test('no parameter, header or response stands twice', async (t) => {
  const all: Operation[] = [document.paths, document.webhooks].flatMap((paths) =>
    Object.values<Record<string, Operation>>(paths)).flatMap((methods) => Object.values(methods))
  const parts = all.flatMap(({ parameters = [], responses }) => [
    ...parameters,
    ...Object.values(responses),
    ...Object.values(responses).flatMap(({ headers = {} }) => Object.values(headers))
  ]).filter((part) => !('$ref' in part)).map((part) => JSON.stringify(part))
  t.same(parts.filter((part, at) => parts.indexOf(part) !== at), [])
})

t.test('every operation is described, and there are probes and a contact', async (t) => {
  for (const path of ['/health/live', '/health/ready']) t.ok(document.paths[path].get, path)
  t.ok(document.info.contact.name)
  for (const operationId of ['getWebhookSecret', 'getAssistantWebhookSecret']) {
    t.ok(operations.find(({ operation }) => operation.operationId === operationId)?.operation.description)
  }
  t.match(schemas.LeadInput, { properties: { secondary_contacts: { description: /repeat/ } } })
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

t.test('it has less than 160 KB as it is served, with room for a few routes more', async (t) => {
  const bytes = Buffer.byteLength(text)
  t.ok(bytes < 160_000, `${bytes} bytes`)
})
