// The API document as it is served: what the plugin found in the routes, rewritten for people and generators of code.

type Part = Record<string, unknown>

/** Schemas by their titles. */
export type Named = Record<string, Part>

interface Parameter { in: string, name: string, required?: boolean, schema?: { title?: string, default?: unknown } }

interface Response {
  headers?: Part
  content?: Record<string, { schema?: { $ref?: string }, example?: unknown }>
}

interface Operation {
  operationId?: string
  tags?: string[]
  security?: object[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean }
  responses?: Record<string, Response>
  servers?: object[]
  'x-optional-body'?: boolean
}

type Paths = Record<string, Record<string, Operation>>

/**
 * Where clients find the API, and the root without BASE_PATH, if there is one. PUBLIC_URL names the place of `/health`,
 * and may end with BASE_PATH. Without it, the API is wherever the document is.
 */
export function originOf (basePath: string, publicUrl = '') {
  const url = publicUrl.replace(/\/+$/, '')
  const root = basePath && url.endsWith(basePath) ? url.slice(0, -basePath.length) : url
  return { servers: [{ url: `${root}${basePath}` || '/' }], ...(basePath !== '' && { root: { url: root || '/' } }) }
}

/** The security of most operations: a token or a key, as one scheme. */
export const tokenOrKey: Array<Record<string, string[]>> = [{ bearerOrKey: [] }]

/** The document with its webhooks. @throws when two different parts of it have one name */
export function apiDocument<Api extends { paths?: object, components?: object }> (
  made: Api, webhooks: object, { servers, root }: ReturnType<typeof originOf>
): Api {
  const schemas: Named = {}
  const paths: Paths = Object(shown(made.paths, schemas))
  const received: Paths = Object(shown(webhooks, schemas))
  for (const [path, methods] of Object.entries(paths)) {
    for (const operation of Object.values(methods)) {
      if (operation.security?.some((login) => 'bearerOrKey' in login)) delete operation.security
      else operation.security ??= []
      if (operation.requestBody && operation['x-optional-body']) operation.requestBody.required = false
      delete operation['x-optional-body'] // the plugin documents every body as required
      if (root && path.startsWith('/health/')) operation.servers = [root]
    }
  }
  sayOnce(schemas)
  const operations = [paths, received].flatMap((each) => Object.values(each)).flatMap((each) => Object.values(each))
  const components = { ...made.components, schemas: withoutExamples(schemas), ...shareParts(operations) }
  return { ...made, servers, security: tokenOrKey, paths, webhooks: received, components }
}

/** Drops the examples of fields: bodies and answers have whole examples. */
const withoutExamples = (schemas: Named): Named => JSON.parse(JSON.stringify(schemas, (key, value: unknown) =>
  key === 'examples' && Array.isArray(value) ? undefined : value))

interface Described { description?: string }

/** Schemas that leave descriptions to another one, for fields of the same name. */
const saidIn: ReadonlyArray<[name: string, by: string]> = [
  ['AssistantChanges', 'AssistantInput'],
  ['FoundLead', 'Lead'],
  ['TruncatedCall', 'WebhookCall'],
  ['CallSummary', 'Call'],
  ['DeliverySummary', 'Delivery'],
  ['DeliveryDetails', 'Delivery'],
  ['DeliveryOfUser', 'Delivery'],
  ['DeliveryOfUserDetails', 'DeliveryDetails']
]

/** Removes a description that the other schema has for the same field. */
function sayOnce (schemas: Record<string, Described & { properties?: Record<string, Described> }>): void {
  for (const [name, by] of saidIn) {
    const [schema, other] = [schemas[name], schemas[by]]
    if (!schema || !other) throw new Error(`the API document has no schema ${schema ? by : name}`)
    for (const [field, said] of Object.entries(schema.properties ?? {})) {
      const words = other.properties?.[field]?.description?.replace(/ Default: .*\.$/s, '') // `withoutDefault` adds it
      if (said.description === words) delete said.description
    }
    schema.description = `What is not described here is as in ${by}.`
  }
}

// Rewrites schemas so that code generators read them alike; each object or enum with a title appears once.

/** Where a schema stands. A default only means something in a request. */
type Place = 'parameter' | 'body' | 'answer'
const places: Record<string, Place> = { requestBody: 'body', parameters: 'parameter' }

/**
 * Rewrites every schema in `given` for clients: numbers get a format, our own keywords go, and objects and enums with a
 * title move to `named` and become references.
 * @throws when two different schemas have one title
 */
export function shown (given: unknown, named: Named, place: Place = 'answer'): unknown {
  if (Array.isArray(given)) return given.map((item) => shown(item, named, place))
  if (!isPart(given)) return given
  const schema = eachPart(instead(given), (part, key) => shown(part, named, places[key] ?? place))
  return reference(typed(plain(schema, place)), named)
}

const isPart = (value: unknown): value is Part => typeof value === 'object' && value !== null

/** Fields and answers may have the name of a keyword; examples and other values may look like anything. */
function eachPart (whole: Part, rewrite: (part: unknown, key: string) => unknown): Part {
  const each = (parts: Part, write: typeof rewrite) =>
    Object.fromEntries(Object.entries(parts).map(([key, part]) => [key, write(part, key)]))
  return each(whole, (part, key) => {
    if (['example', 'examples', 'default', 'enum'].includes(key)) return part
    const areNamed = ['properties', 'responses'].includes(key) && isPart(part)
    return areNamed ? each(part, (named) => rewrite(named, '')) : rewrite(part, key)
  })
}

/** Replaces a schema by its `x-documented`, but keeps its words and its null. */
function instead (schema: Part): Part {
  const { 'x-documented': documented, 'x-message': _, title, description, examples, default: value, ...rest } = schema
  const words = defined({ title, description, examples, default: value })
  if (!isPart(documented)) return { ...rest, ...words }
  return { ...documented, ...words, ...(isNullable(rest) && { type: [documented.type, 'null'] }) }
}

const defined = (schema: Part) => Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))

const isNullable = ({ type }: Part) => Array.isArray(type) && type.includes('null')

/** Generators misread `const`, and `anyOf` of references: writes `enum` and `oneOf`. Ids in answers have no bounds. */
function plain (schema: Part, place: Place): Part {
  const { const: only, anyOf, ...rest } = withoutDefault(schema, place)
  if (place === 'answer' && rest.minimum === 1 && rest.maximum === Number.MAX_SAFE_INTEGER) {
    delete rest.minimum
    delete rest.maximum
  }
  if (only !== undefined && typeof only !== 'boolean') rest.enum = [only]
  if (!Array.isArray(anyOf)) return rest
  return { ...rest, [anyOf.every((each) => '$ref' in each) ? 'oneOf' : 'anyOf']: anyOf }
}

/** Generators make a body's field with a default required, or send the default with every change. */
function withoutDefault (schema: Part, place: Place): Part {
  const { default: value, ...rest } = schema
  const isOfValue = ['type', 'enum', '$ref', 'anyOf'].some((keyword) => keyword in schema)
  if (!('default' in schema && isOfValue) || place === 'parameter') return schema
  if (place === 'answer') return rest
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { ...rest, description: [rest.description, `Default: ${text}.`].filter(Boolean).join(' ') }
}

/** Generators take numbers for 32 bits, and enums need a type that validation omits to refuse by one rule. */
function typed (schema: Part): Part {
  const isChoice = Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string')
  if (isChoice && schema.type === undefined) return { type: 'string', ...schema }
  const types = [schema.type].flat()
  const format = types.includes('integer') ? 'int64' : types.includes('number') ? 'double' : undefined
  return format && schema.format === undefined ? { ...schema, format } : schema
}

/** Keeps description and default next to the reference. */
function reference (schema: Part, named: Named): Part {
  const { title, description, examples: _, default: value, ...own } = schema
  if (typeof title !== 'string' || !('properties' in own || 'enum' in own)) return schema
  const type = isNullable(own) ? [own.type].flat().find((each) => each !== 'null') : own.type
  const only = { ...own, type }
  if (named[title] && JSON.stringify(named[title]) !== JSON.stringify(only)) {
    throw new Error(`two different schemas are named ${title}`)
  }
  named[title] = only
  const ref = { $ref: `#/components/schemas/${title}` }
  const whole = isNullable(own) ? { anyOf: [ref, { type: 'null' }] } : ref
  return { ...whole, ...defined({ description, default: value }) }
}

// Moves parameters, headers and responses that several operations have alike into components.

/** A part of an operation, where it stands, and its name if it is shared. */
interface Standing { name: string, part: Part, operation: Operation, within: object, key: string | number }

/** Replaces parts that occur twice or more by references. @returns the shared parts */
function shareParts (operations: readonly Operation[]): Record<string, Part> {
  const responses = operations.flatMap((operation) => standing(operation, operation.responses, nameOfResponse))
  const headers = responses.flatMap(({ operation, part }) => standing(operation, part.headers, shortName))
  return {
    headers: share('headers', headers),
    parameters: share('parameters', operations.flatMap(parametersOf)),
    responses: share('responses', responses)
  }
}

function standing (operation: Operation, given: unknown, nameOf: (key: string, part: Part) => string): Standing[] {
  const within: Record<string, Part> = Object(given)
  return Object.entries(within).map(([key, part]) => ({ name: nameOf(key, part), part, operation, within, key }))
}

/** @throws when two different parts would have one name */
function share (kind: string, standing: readonly Standing[]): Part {
  const groups = new Map<string, Standing[]>()
  for (const each of standing) {
    const text = JSON.stringify(each.part, (key, value: unknown) => key === 'example' ? undefined : value)
    groups.set(text, [...groups.get(text) ?? [], each])
  }
  const shared: Part = {}
  for (const alike of groups.values()) {
    const name = sharedName(alike)
    if (alike.length < 2) continue
    if (shared[name]) throw new Error(`two different ${kind} would be named ${name}`)
    shared[name] = withExamples(name, alike)
    for (const { within, key } of alike) Object.assign(within, { [key]: { $ref: `#/components/${kind}/${name}` } })
  }
  return shared
}

/** A parameter of one tag is named after the tag, so that another list may have one of that name. */
function sharedName (alike: readonly Standing[]): string {
  const [{ name, part } = { name: '', part: { name: '' } }] = alike
  const tags = [...new Set(alike.flatMap(({ operation }) => operation.tags ?? []))]
  return name || [...tags.length === 1 ? tags : [], String(part.name)].map(pascal).join('')
}

/** A success keeps the example of each operation; a refusal keeps one, as they are alike. */
function withExamples (name: string, alike: readonly Standing[]): object {
  const [{ part } = { part: {} }] = alike
  const texts = new Map([...alike].reverse().map(({ part, operation }) =>
    [JSON.stringify(mediaOf(part).example), operation.operationId]))
  if (/^E\d|^Refused$/.test(name) || texts.size < 2) return part
  const { example: _, ...media } = mediaOf(part)
  const examples = [...texts].reverse().map(([text, operation]) => [operation, { value: JSON.parse(text) }])
  return { ...part, content: { 'application/json': { ...media, examples: Object.fromEntries(examples) } } }
}

const mediaOf = ({ content = {} }: Response) => Object.values(content)[0] ?? {}

function nameOfResponse (status: string, response: Response): string {
  const schema = mediaOf(response).schema?.$ref?.split('/').at(-1)
  return status === 'default' ? 'Refused' : schema === undefined || schema === 'Error' ? `E${status}` : schema
}

const shortName = (header: string) => shortNames[header] ?? header

/** A parameter takes its name from the title of its schema. A default makes it optional. */
function parametersOf (operation: Operation): Standing[] {
  const { parameters: within = [] } = operation
  return within.map((parameter, key) => {
    const { required, ...rest } = parameter
    const { title, ...schema } = parameter.schema ?? {}
    const part = within[key] = { ...rest, ...(required && schema.default === undefined && { required }), schema }
    const name = title ?? (parameter.in === 'header' ? shortName(parameter.name) : '')
    return { name, part, operation, within, key }
  })
}

const pascal = (text: string) => text.replace(/(?:^|[ _])(\w)/g, (_, first: string) => first.toUpperCase())

/** Short, because a reference to each stands in every operation. */
const shortNames: Record<string, string> = {
  'Idempotency-Key': 'Key',
  'X-Read-Position': 'Position',
  'X-Read-Model': 'Pending',
  'X-Ignored-Fields': 'Ignored',
  'Idempotent-Replayed': 'Replayed',
  'X-Correlation-Id': 'Correlation',
  'X-RateLimit-Limit': 'Limit',
  'X-RateLimit-Remaining': 'Remaining',
  'X-RateLimit-Reset': 'Reset',
  'WWW-Authenticate': 'Challenge'
}

// The API document in OpenAPI 3.0, for tools that do not read 3.1: gateways, oapi-codegen, openapi-generator 7.0.

/** The document as OpenAPI 3.0, without what that lacks: webhooks, and rules on the names of keys. */
export function asVersion30 (document: object): object {
  const { webhooks: _, info, ...rest } = Object(document)
  const { identifier: _spdx, ...license } = info.license
  return { ...Object(inWords(rest)), openapi: '3.0.3', info: { ...info, license } }
}

/** In 3.0 a schema has one example, `nullable` instead of a null type, and nothing next to a reference. */
function inWords (given: unknown): unknown {
  if (Array.isArray(given)) return given.map(inWords)
  if (!isPart(given)) return given
  const { propertyNames: _, ...schema } = given
  const { examples, type, anyOf, $ref, ...rest } = eachPart(parameter(schema), inWords)
  const one: Part = Array.isArray(examples) ? { example: examples[0] } : { examples }
  const own = defined({ ...rest, ...one, type, anyOf: undefined })
  if (Array.isArray(anyOf)) return { ...own, allOf: anyOf.slice(0, 1), nullable: true }
  if (Array.isArray(type)) return { ...own, type: type.find((each) => each !== 'null'), nullable: true }
  if ($ref === undefined) return own
  return Object.keys(own).length === 0 ? { $ref } : { ...own, allOf: [{ $ref }] }
}

/** For Rust, openapi-generator 7.0 imports no schema that a parameter merely refers to: `allOf` helps. */
function parameter (part: Part): Part {
  const isReference = 'in' in part && Object.keys(Object(part.schema)).join() === '$ref'
  return isReference ? { ...part, schema: { allOf: [part.schema] } } : part
}
