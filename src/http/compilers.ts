// Compiles schemas: two validators, for bodies as they are and for texts of a query or a path, and the serializer.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import type { FieldErrors } from '../domain/rejection.js'
import { fieldErrors, mostFields, notDecimal, openAjv, withNotDecimal } from './field-errors.js'
import { dayOrInstant, isDayOrInstant } from './filters.js'

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

/** What the schema refuses of a value, by field. Compiled when it is first asked. */
export function refusedBy (schema: TSchema): (value: object) => FieldErrors {
  let validate: ReturnType<typeof validatorCompiler> | undefined
  return (value) => {
    validate ??= validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '' })
    validate(value)
    return fieldErrors(validate.errors ?? [])
  }
}

// Turns answers into JSON by their schemas, each of which is compiled for the first answer that needs it.

type Serialize = (data: unknown) => string

const compile = SerializerSelector()({}, {})

/** Of all apps of this process. Schemas are constants, so there are as many as routes have. */
const compiled = new WeakMap<object, Serialize>()

/** As Fastify's own, which compiles each schema once more for each route and app, before the first request. */
export const serializerCompiler: FastifySerializerCompiler<TSchema> = (route) => (data) => {
  const serialize = compiled.get(route.schema) ?? compile({ ...route, httpStatus: route.httpStatus ?? '' })
  compiled.set(route.schema, serialize)
  return serialize(data)
}
