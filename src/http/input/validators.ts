// The two validators: bodies are taken as they are, query strings and path parameters are text to begin with.
import type { ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { notDecimal, openAjv, withNotDecimal } from './ajv.js'
import { dayOrInstant, isDayOrInstant } from './day-or-instant.js'
import { mostFields } from './named-fields.js'

const bodies = openAjv({ coerceTypes: false })
const texts = openAjv({ coerceTypes: 'array', useDefaults: true })
addFormats.default(bodies)
addFormats.default(texts)
for (const validator of [bodies, texts]) validator.addFormat(dayOrInstant, isDayOrInstant)

/** More than fields that are named, because one field can break several rules. */
const mostErrors = 4 * mostFields

/**
 * No coercion in bodies: `"5"` is not an integer there, and `1` is not `true`. A schema is compiled for the first
 * request that needs it: all of them at once are a quarter of a start. Apps of one process share what was compiled.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = httpPart === 'body' ? bodies : texts
  const bounded: Bounded = (data) => {
    const validate = validator.compile(schema) // by its object it finds what it compiled before
    const odd = httpPart === 'body' ? [] : notDecimal(schema, data)
    const isValid = validate(data) && odd.length === 0
    bounded.errors = isValid ? null : withNotDecimal(validate.errors?.slice(0, mostErrors) ?? [], odd)
    validate.errors = null // of a hostile body, hundreds of thousands: nobody keeps them
    return isValid
  }
  return bounded
}

/** As Fastify takes it: `errors` has what was refused, until the next call. */
interface Bounded {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}
