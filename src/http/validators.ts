// The two validators: bodies are taken as they are, query strings and path parameters are text to begin with.
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import type { TSchema } from 'typebox'
import { dayOrInstant, isDayOrInstant } from './day-or-instant.js'

const shared = { allErrors: true, verbose: true, strict: false, useDefaults: false, removeAdditional: false } as const
const bodies = new Ajv({ ...shared, coerceTypes: false })
const texts = new Ajv({ ...shared, coerceTypes: 'array', useDefaults: true })
addFormats.default(bodies)
addFormats.default(texts)
texts.addFormat(dayOrInstant, isDayOrInstant)

/** No coercion in bodies: `"5"` is not an integer there, and `1` is not `true`. */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) =>
  (httpPart === 'body' ? bodies : texts).compile(schema)
