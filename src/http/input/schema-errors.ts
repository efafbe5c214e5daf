// Turns what the schema validator refused into messages a person can act on, by field.
import type { FieldErrors } from '../../domain/rejection.js'

/** A schema error of AJV, as it comes from there and from Fastify. */
export interface SchemaError {
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

function member (value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

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
