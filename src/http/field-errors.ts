// Turns schema errors of data from outside into messages by field that a person can act on.
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv'
import { member } from '../domain/json.js'
import { type FieldErrors, mostFields } from '../domain/rejection.js'

/** A schema error of AJV; Fastify passes it on. */
type SchemaError = Omit<ErrorObject<string, Record<string, unknown>>, 'schemaPath'>

/** Every refused field with every reason; paths have dots. Errors of the whole are under `part`. */
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
    case 'propertyNames': return `must not have a name of more than ${String(member(parentSchema.propertyNames, 'maxLength'))} characters`
    case 'not': return `must not be ${String(member(parentSchema.not, 'const'))}`
    case 'enum': return `must be one of: ${[params.allowedValues].flat().join(', ')}`
    case 'pattern': return ownWords(parentSchema) ?? message ?? 'is not valid'
    case 'format':
      return ownWords(parentSchema) ?? `must be a ${String(params.format)} such as 2026-01-31T12:00:00Z`
    default: return message ?? 'is not valid'
  }
}

/** The schema's own message for a value that does not fit. */
function ownWords ({ 'x-message': words }: Record<string, unknown>): string | undefined {
  return typeof words === 'string' ? words : undefined
}

/** A maximum of 2^53 - 1 is named only to callers who exceed it. */
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

/** Of too many errors only the first; `body` then says that there are more. */
export function firstFields (errors: FieldErrors): FieldErrors {
  const entries = Object.entries(errors)
  if (entries.length <= mostFields) return errors
  const more = `has more wrong fields than the ${mostFields} that are named here`
  return { ...Object.fromEntries(entries.slice(0, mostFields)), body: [...errors.body ?? [], more] }
}

/** Errors that are kept for each row of an import. */
const mostOfRow = 5
const counted = /^has (\d+) more errors$/

/** The first errors of a row, its phone number first; `row` counts the rest, also when a cut row is cut again. */
export function firstOfRow ({ row = [], ...fields }: FieldErrors): FieldErrors {
  const earlier = Number(counted.exec(row.at(-1) ?? '')?.[1] ?? 0)
  const own = { phone_number: [], ...fields, row: earlier > 0 ? row.slice(0, -1) : row }
  const all = Object.entries(own).flatMap(([field, words]) => words.map((word) => [field, word] as const))
  const more = earlier + Math.max(0, all.length - mostOfRow)
  const kept: FieldErrors = {}
  for (const [field, word] of all.slice(0, mostOfRow)) kept[field] = [...kept[field] ?? [], word]
  return more > 0 ? { ...kept, row: [...kept.row ?? [], `has ${more} more errors`] } : kept
}

// AJV for data from outside.

/** Reports every problem at once. Does not check our own schemas: that takes a tenth of a second at each start. */
export const openAjv = (options?: Options): Ajv =>
  new Ajv({ allErrors: true, verbose: true, strict: false, meta: false, validateSchema: false, ...options })

/** Texts that count as numbers: JavaScript would read `0x10`, `1e1` and ` 5` as well. */
const decimals: Record<string, RegExp> = { integer: /^-?\d+$/, number: /^-?\d+(\.\d+)?$/ }

/** Errors of number texts that are not decimal. Call it before validation, which coerces them. */
export function notDecimal (schema: object, values: unknown): ErrorObject[] {
  if (typeof values !== 'object' || values === null) return []
  const { properties = {} }: { properties?: Record<string, { type?: string }> } = schema
  return Object.entries(properties).flatMap(([name, { type = '' }]) => {
    const text: unknown = Reflect.get(values, name)
    if (typeof text !== 'string' || decimals[type]?.test(text) !== false) return []
    return [{ keyword: 'type', instancePath: `/${name}`, schemaPath: `#/properties/${name}/type`, params: { type } }]
  })
}

/** All errors, with only one for a number that is not decimal. */
export function withNotDecimal (refused: ErrorObject[], odd: ErrorObject[]): ErrorObject[] {
  const told = new Set(refused.map(({ instancePath }) => instancePath))
  return [...refused, ...odd.filter(({ instancePath }) => !told.has(instancePath))]
}

/** All errors of texts; coerces the texts in place. */
export function refusedTexts<Taken> (validate: ValidateFunction<Taken>, schema: object, texts: unknown): ErrorObject[] {
  const odd = notDecimal(schema, texts)
  validate(texts)
  return withNotDecimal(validate.errors ?? [], odd)
}
