// What clients are told of a schema: what generators of code read alike, and each object and choice with a title once.

type Schema = Record<string, unknown>

/** Schemas by their titles. */
export type Named = Record<string, Schema>

/** Where a schema stands. A default says something of requests alone. */
type Place = 'parameter' | 'body' | 'answer'

/** Of an operation that needs no body. The plugin documents every body as required. */
export const optionalBody = 'x-optional-body'

/**
 * `given` as clients are told of it, with every schema in it: numbers have a format, keywords of ours are gone, and
 * objects and choices with a title are references to `named`, to which they are added.
 * @throws when two different schemas have one title
 */
export function shown (given: unknown, named: Named, place: Place = 'answer'): unknown {
  if (Array.isArray(given)) return given.map((item) => shown(item, named, place))
  if (!isSchema(given)) return given
  const schema = withOptionalBody(instead(given))
  const parts = Object.entries(schema).map(([key, part]) =>
    [key, isData(key) ? part : shownPart(key, part, named, place)])
  return reference(plain(Object.fromEntries(parts), place), named)
}

function shownPart (key: string, part: unknown, named: Named, place: Place): unknown {
  if (key === 'requestBody') return shown(part, named, 'body')
  if (key === 'parameters') return shown(part, named, 'parameter')
  if (key !== 'properties' || !isSchema(part)) return shown(part, named, place)
  return Object.fromEntries(Object.entries(part).map(([name, each]) => [name, shown(each, named, place)]))
}

/** Values, not schemas: they may look like anything. */
const isData = (key: string) => ['example', 'examples', 'default', 'enum'].includes(key)

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

function withOptionalBody ({ [optionalBody]: isOptional, ...operation }: Schema): Schema {
  return isOptional ? { ...operation, requestBody: { ...Object(operation.requestBody), required: false } } : operation
}

/** What `x-documented` says instead, with the words and the null of the schema. */
function instead (schema: Schema): Schema {
  const { 'x-documented': documented, 'x-message': _, title, description, examples, default: value, ...rest } = schema
  const words = defined({ title, description, examples, default: value })
  if (!isSchema(documented)) return { ...rest, ...words }
  return { ...documented, ...words, ...(isNullable(rest) && { type: [documented.type, 'null'] }) }
}

const defined = (schema: Schema) =>
  Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined))

const isNullable = ({ type }: Schema) => Array.isArray(type) && type.includes('null')

/** Generators read a constant as a text, a choice of objects as all of them at once, and numbers as 32 bits. */
function plain (schema: Schema, place: Place): Schema {
  const { const: only, anyOf, ...rest } = withoutDefault(schema, place)
  const choice = only === undefined || typeof only === 'boolean' ? {} : { enum: [only] }
  const isChoiceOfObjects = Array.isArray(anyOf) && anyOf.every((each) => '$ref' in each)
  return typed({ ...withoutBounds(rest, place), ...choice, ...(anyOf !== undefined && { [isChoiceOfObjects ? 'oneOf' : 'anyOf']: anyOf }) })
}

/** A generator that reads a default in a body makes the field required, or sends it with every change. */
function withoutDefault (schema: Schema, place: Place): Schema {
  const { default: value, ...rest } = schema
  if (!('default' in schema && isOfValue(schema)) || place === 'parameter') return schema
  if (place === 'answer') return rest
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return { ...rest, description: [rest.description, `Default: ${text}.`].filter(Boolean).join(' ') }
}

/** Ids in answers are what they are. */
function withoutBounds (schema: Schema, place: Place): Schema {
  const { minimum, maximum, ...rest } = schema
  return place === 'answer' && minimum === 1 && maximum === Number.MAX_SAFE_INTEGER ? rest : schema
}

const isOfValue = (schema: Schema) => ['type', 'enum', '$ref', 'anyOf'].some((keyword) => keyword in schema)

const formats: ReadonlyArray<[type: string, format: string]> = [['integer', 'int64'], ['number', 'double']]

/** Validation does without the type of a choice, so that a refusal names one rule; a reader wants it. */
function typed (schema: Schema): Schema {
  const isChoice = Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string')
  if (isChoice && schema.type === undefined) return { type: 'string', ...schema }
  const format = formats.find(([type]) => [schema.type].flat().includes(type))?.[1]
  return format && schema.format === undefined ? { ...schema, format } : schema
}

/** What is said of the schema where it stands is said beside the reference. */
function reference (schema: Schema, named: Named): Schema {
  const { title, description, examples: _, default: value, ...own } = schema
  if (typeof title !== 'string' || !('properties' in own || 'enum' in own)) return schema
  const type = isNullable(own) ? [own.type].flat().find((each) => each !== 'null') : own.type
  const only = { ...own, type }
  if (named[title] && JSON.stringify(named[title]) !== JSON.stringify(only)) {
    throw new Error(`two different schemas are named ${title}`)
  }
  named[title] = only
  const ref = { $ref: `#/components/schemas/${title}` }
  return { ...(isNullable(own) ? { anyOf: [ref, { type: 'null' }] } : ref), ...defined({ description, default: value }) }
}
