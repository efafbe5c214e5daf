// Schemas and types shared by every aggregate.
import Type, { type TSchema } from 'typebox'

/** A JSON value of any kind. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = Record<string, Json>

/** An object whose keys and values the caller is free to choose. */
export const AnyObject = (options: object) => Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, ...options })

/** A whole number that every JSON reader keeps exact. */
export const Id = (options: object) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options })

/** Adds null to the types of a schema without an `anyOf`, so that a refusal names one rule and not two branches. */
export function Nullable<Schema extends TSchema & { type: string }> (schema: Schema, options: object = {}) {
  return Type.Unsafe<Type.Static<Schema> | null>({ ...schema, type: [schema.type, 'null'], ...options })
}

/** Marks what a pattern asks for in words; shown instead of the pattern when a value is refused. */
export const inWords = (message: string) => ({ 'x-message': message })

/** A phone number in E.164: a plus sign, then 2 to 15 digits, the first not zero (ITU-T E.164). */
export const PhoneNumber = (options: object = {}) => Type.String({
  pattern: '^\\+[1-9]\\d{1,14}$',
  examples: ['+15551230001'],
  ...inWords('must be a phone number in E.164 format, such as +15551230001'),
  ...options
})

/** An instant, ISO 8601 in UTC. */
export const Instant = (options: object = {}) => Type.String({ minLength: 1, examples: ['2026-01-31T12:00:00.000Z'], ...options })
