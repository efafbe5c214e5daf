// What is wrong with data from outside, by field, in words that a person can act on.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { member } from '../domain/json.js'
import { type FieldErrors, mostFields } from '../domain/rejection.js'

/** A schema error of AJV, as it comes from there and from Fastify. */
interface SchemaError {
  keyword: string
  instancePath: string
  params: Record<string, unknown>
  message?: string | undefined
  /** The rule that refused; AJV adds it with `verbose`. */
  parentSchema?: Record<string, unknown> | undefined
  /** Of a rule for the names in an object: the name. */
  propertyName?: string | undefined
}

/** Every refused field with every reason; paths have dots. What is wrong as a whole is the field `part`. */
export function fieldErrors (refused: readonly SchemaError[], part = 'body'): FieldErrors {
  const errors: FieldErrors = {}
  for (const error of refused) {
    if (error.propertyName !== undefined) continue // the object's own rule, propertyNames, says it once
    const path = pathOf(error) || part
    errors[path] = [...new Set([...(errors[path] ?? []), messageOf(error)])]
  }
  return errors
}

function pathOf ({ instancePath, keyword, params }: SchemaError): string {
  const path = instancePath.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  if (keyword === 'required') path.push(String(params.missingProperty))
  return path.join('.')
}

function messageOf ({ keyword, params, message, instancePath, parentSchema = {} }: SchemaError): string {
  switch (keyword) {
    case 'required': return 'is required'
    case 'type': return instancePath === '' ? 'must be a JSON object' : `must be ${typeNames(params.type)}`
    case 'minLength': return params.limit === 1 ? 'must not be empty' : `must be at least ${params.limit} characters`
    case 'maxLength': return `must be at most ${params.limit} characters`
    case 'minimum': return rangeOf(parentSchema, parentSchema.maximum === Number.MAX_SAFE_INTEGER)
    case 'maximum': return rangeOf(parentSchema)
    case 'minItems': return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} items`
    case 'maxItems': return `must have at most ${params.limit} items`
    case 'maxProperties': return `must have at most ${params.limit} entries`
    case 'propertyNames': return `must not have a name of more than ${longestName(parentSchema)} characters`
    case 'not': return `must not be ${String(member(parentSchema.not, 'const'))}`
    case 'enum': return `must be one of: ${list(params.allowedValues)}`
    case 'pattern': return ownWords(parentSchema) ?? message ?? 'is not valid'
    case 'format':
      return ownWords(parentSchema) ?? `must be a ${String(params.format)} such as 2026-01-31T12:00:00Z`
    default: return message ?? 'is not valid'
  }
}

/** What the schema itself says of a value that does not fit. */
function ownWords ({ 'x-message': words }: Record<string, unknown>): string | undefined {
  return typeof words === 'string' ? words : undefined
}

const longestName = ({ propertyNames }: Record<string, unknown>) => String(member(propertyNames, 'maxLength'))

/** The largest number that JSON holds for sure is told to callers who came near it. */
function rangeOf ({ minimum, maximum }: Record<string, unknown>, isSmall = false): string {
  if (typeof minimum !== 'number') return `must be at most ${Number(maximum)}`
  const isUnbounded = typeof maximum !== 'number' || isSmall
  return isUnbounded ? `must be at least ${minimum}` : `must be between ${minimum} and ${maximum}`
}

const named: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null'
}

function typeNames (types: unknown): string {
  return [types].flat().map((type) => named[String(type)] ?? String(type)).join(' or ')
}

const list = (values: unknown) => Array.isArray(values) ? values.join(', ') : String(values)

/** The errors as they are answered: of too many the first, and under `body` that there are more. */
export function firstFields (errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors)
  if (entries.length <= mostFields) return errors
  const more = `has more wrong fields than the ${mostFields} that are named here`
  return { ...Object.fromEntries(entries.slice(0, mostFields)), body: [...errors.body ?? [], more] }
}

/** So many errors of a row of an import are kept for 30 days. */
const mostOfRow = 5
const counted = /^has (\d+) more errors$/

/** The first errors of a row, its phone number first; `row` says how many more there are, also when it is cut again. */
export function firstOfRow ({ row = [], ...fields }: FieldErrors): FieldErrors {
  const earlier = Number(counted.exec(row.at(-1) ?? '')?.[1] ?? 0)
  const own = { phone_number: [], ...fields, row: earlier > 0 ? row.slice(0, -1) : row }
  const all = Object.entries(own).flatMap(([field, words]) => words.map((word) => [field, word] as const))
  const more = earlier + Math.max(0, all.length - mostOfRow)
  const kept: FieldErrors = {}
  for (const [field, word] of all.slice(0, mostOfRow)) kept[field] = [...kept[field] ?? [], word]
  return more > 0 ? { ...kept, row: [...kept.row ?? [], `has ${more} more errors`] } : kept
}

// What checks data from outside against schemas of ours.

/** Every problem at once. The schemas are ours: to check them as well takes a tenth of a second at each start. */
export const openAjv = (options?: Options): Ajv =>
  new Ajv({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false, ...options })

/** What a text must be to be taken as a number: JavaScript would read `0x10`, `1e1` and ` 5` as well. */
const decimals: Record<string, RegExp> = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ }

/** The texts that stand for numbers and are not decimal. Asked before validation, which coerces them. */
export function notDecimal (schema: object, values: unknown): ErrorObject[] {
  if (typeof values !== 'object' || values === null) return []
  const { properties = {} }: { properties?: Record<string, { type?: string }> } = schema
  return Object.entries(properties).flatMap(([name, { type = '' }]) => {
    const text: unknown = Reflect.get(values, name)
    if (typeof text !== 'string' || decimals[type]?.test(text) !== false) return []
    return [{ keyword: 'type', instancePath: `/${name}`, schemaPath: `#/properties/${name}/type`, params: { type } }]
  })
}

/** All that is wrong; a number that is not decimal is told once. */
export function withNotDecimal (refused: ErrorObject[], odd: ErrorObject[]): ErrorObject[] {
  const told = new Set(refused.map(({ instancePath }) => instancePath))
  return [...refused, ...odd.filter(({ instancePath }) => !told.has(instancePath))]
}

/** All that is wrong with texts, which are coerced in place. */
export function refusedTexts<Taken> (validate: ValidateFunction<Taken>, schema: object, texts: unknown): ErrorObject[] {
  const odd = notDecimal(schema, texts)
  validate(texts)
  return withNotDecimal(validate.errors ?? [], odd)
}
