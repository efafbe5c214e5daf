// The API document in OpenAPI 3.0, for tools that do not read 3.1: gateways, oapi-codegen, openapi-generator 7.0.

type Schema = Record<string, unknown>

/** The document in words of 3.0. What has none is left out: webhooks, and rules on the names of keys. */
export function asVersion30 (document: object): object {
  const { webhooks: _, info, ...rest } = Object(document)
  const { identifier: _spdx, ...license } = info.license
  return { ...Object(inWords(rest)), openapi: '3.0.3', info: { ...info, license } }
}

function inWords (given: unknown): unknown {
  if (Array.isArray(given)) return given.map(inWords)
  if (typeof given !== 'object' || given === null) return given
  const { propertyNames: _, ...schema } = Object(given)
  return reference(nullable(example(mapped(parameter(schema)))))
}

/** openapi-generator 7.0 does not import for Rust what the schema of a parameter is a mere reference to. */
function parameter (part: Schema): Schema {
  const isReference = 'in' in part && Object.keys(Object(part.schema)).join() === '$ref'
  return isReference ? { ...part, schema: { allOf: [part.schema] } } : part
}

/** Fields may be called as keywords are, and values may look like anything. */
const mapped = (schema: Schema): Schema => Object.fromEntries(Object.entries(schema).map(([key, part]) => {
  if (['example', 'examples', 'enum', 'default'].includes(key)) return [key, part]
  return [key, key === 'properties' ? eachOf(Object(part)) : inWords(part)]
}))

const eachOf = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, inWords(field)]))

/** A schema has one example, an answer has several under names. */
function example ({ examples, ...schema }: Schema): Schema {
  if (Array.isArray(examples)) return { ...schema, example: examples[0] }
  return examples === undefined ? schema : { ...schema, examples }
}

/** Null is a word of its own beside the type. */
function nullable ({ type, anyOf, ...schema }: Schema): Schema {
  if (Array.isArray(anyOf)) return { ...schema, allOf: anyOf.slice(0, 1), nullable: true }
  if (Array.isArray(type)) return { ...schema, type: type.find((each) => each !== 'null'), nullable: true }
  return type === undefined ? schema : { ...schema, type }
}

/** Nothing may stand beside a reference. */
function reference ({ $ref, ...beside }: Schema): Schema {
  if ($ref === undefined) return beside
  return Object.keys(beside).length === 0 ? { $ref } : { ...beside, allOf: [{ $ref }] }
}
