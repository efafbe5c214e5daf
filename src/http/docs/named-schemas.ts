// Defines every schema with a title once in the API document, so that clients can be generated with those names.

type Schema = Record<string, unknown>
interface Document { paths?: unknown, components?: { schemas?: Record<string, unknown> } }

/**
 * The document with `webhooks`, object schemas with a title moved to `components.schemas`.
 * @throws when two different schemas have one title
 */
export function nameSchemas<Api extends Document> (document: Api, webhooks: object): Api {
  const schemas: Record<string, unknown> = {}
  const named = { ...document, paths: refer(document.paths, schemas), webhooks: refer(webhooks, schemas) }
  return { ...named, components: { ...document.components, schemas } }
}

/** Of an operation that needs no body. The plugin documents every body as required. */
export const optionalBody = 'x-optional-body'

function refer (given: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(given)) return given.map((item) => refer(item, schemas))
  if (!isSchema(given)) return given
  const value = optionalBody in given ? withOptionalBody(given) : given
  const parts = Object.entries(value).map(([key, part]) => [key, isData(key) ? part : refer(part, schemas)])
  const inner: Schema = Object.fromEntries(parts)
  const schema = typed(inner)
  const { title } = schema
  if (typeof title !== 'string' || !('properties' in schema)) return schema
  const isOther = schemas[title] && JSON.stringify(schemas[title]) !== JSON.stringify(schema)
  if (isOther) throw new Error(`two different schemas are named ${title}`)
  schemas[title] = schema
  return { $ref: `#/components/schemas/${title}` }
}

function withOptionalBody ({ [optionalBody]: _, requestBody, ...operation }: Schema): Schema {
  return { ...operation, requestBody: { ...Object(requestBody), required: false } }
}

/** Values, not schemas: they may look like anything. */
const isData = (key: string) => ['example', 'examples', 'default', 'enum'].includes(key)

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** Validation does without the type of a choice, so that a refusal names one rule; a reader wants it. */
function typed (schema: Schema): Schema {
  const isChoice = Array.isArray(schema.enum) && schema.enum.every((value) => typeof value === 'string')
  return isChoice && schema.type === undefined ? { type: 'string', ...schema } : schema
}
