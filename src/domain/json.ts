// Schemas and types shared by every aggregate.
import Type, { type TSchema } from 'typebox'

/** A JSON value of any kind. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = Record<string, Json>

/** Equal values give equal texts, whatever the order of the members of their objects. */
export const canonicalJson = (value: unknown): string | undefined => JSON.stringify(value, (_name, part) =>
  isObject(part)
    ? Object.fromEntries(Object.entries(part).sort(([one], [other]) => one < other ? -1 : 1))
    : part)

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The property of that name, if the value is an object. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined

/** The pattern of a UUID in lower case. */
export const uuid = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
export const isUuid = (text: string): boolean => new RegExp(uuid).test(text)

/** Whether objects and arrays are nested deeper than `levels`. */
export function isNestedDeeper (value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  if (Array.isArray(value)) {
    for (const item of value) if (isNestedDeeper(item, levels - 1)) return true
    return false
  }
  for (const key in value) if (isNestedDeeper(Reflect.get(value, key), levels - 1)) return true
  return false
}

/** An object whose keys and values the caller is free to choose. */
export const AnyObject = (options: object) =>
  Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, ...options })

/** A whole number that every JSON reader keeps exact. */
export const Id = (options: object) => Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, ...options })

/**
 * The highest id that is given out, or believed when the log has it. Numbers are exact up to 2^53: one event with an id
 * next to that would make every later id a wrong one.
 */
export const largestId = 2 ** 53 - 10 ** 6

/** The highest id that a log or a database says was given out; what is too high to be believed counts as none. */
export const believedId = (id: number) => id > largestId ? 0 : id

/** An id from a sequence of ours. */
export const GivenId = (options: object = {}) => Type.Integer({ minimum: 1, maximum: largestId, ...options })

/** Adds null to the types of a schema without an `anyOf`, so that a refusal names one rule and not two branches. */
export function Nullable<Schema extends TSchema & { type: string }> (schema: Schema, options: object = {}) {
  return Type.Unsafe<Type.Static<Schema> | null>({ ...schema, type: [schema.type, 'null'], ...options })
}

/** The message for a refused value, instead of the pattern. */
export const inWords = (message: string) => ({ 'x-message': message })

/** What documents for clients show instead of the schema that validates. */
export const documentedAs = (schema: object) => ({ 'x-documented': schema })

/** For texts that become text columns: Postgres stores every character but NUL. */
export const withoutNul = { pattern: '^[^\\u0000]*$', ...inWords('must not contain NUL characters') }

const e164 = '^\\+[1-9]\\d{1,14}$'
export const notE164 = 'must be a phone number in E.164 format, such as +15551230001'
export const isPhoneNumber = (text: string) => new RegExp(e164).test(text)

/** A phone number in E.164: a plus sign, then 2 to 15 digits, the first not zero (ITU-T E.164). */
export const PhoneNumber = (options: object = {}) => Type.String({
  pattern: e164,
  examples: ['+15551230001'],
  ...inWords(notE164),
  ...options
})

/** Limits the variables in a body: what they cost to store and compare grows with their number. */
export const variableLimits = { maxProperties: 1_000, propertyNames: { maxLength: 255 } }

/** The user: the token's `sub`, an opaque string of 1 to 128 printable characters. */
export const UserId = Type.String({
  minLength: 1, maxLength: 128, ...withoutNul, description: 'The user, as the `sub` of the token.'
})

/** For names that people read; an empty one is refused by its length, other invisible ones by `isBlank`. */
export const notBlank = { pattern: '^$|\\S', ...inWords('must not be blank') }

const longMonth = '(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])'
const shortMonth = '(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)'
const day = `(?:${longMonth}|${shortMonth}|02-(?:0[1-9]|1\\d|2[0-8]))`
const leapDay = '\\d\\d(?:0[48]|[2468][048]|[13579][26])-02-29|(?:[2468][048]|[13579][26])00-02-29'
const time = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-](?:0\\d|1[0-5]):[0-5]\\d)'

/**
 * An instant, RFC 3339 with an offset. Allows only what JavaScript and Postgres read alike: years 1000 to 9998, no leap
 * seconds, offsets under 16 hours. A pattern, because validators disagree on `format: date-time`; documents name the
 * format, because not every regular expression can look ahead.
 */
export const Instant = (options: object = {}) => Type.String({
  pattern: `^(?!0|9999)(?:\\d{4}-${day}|${leapDay})T${time}$`,
  examples: ['2026-01-31T12:00:00.000Z'],
  ...inWords('must be a date and time with an offset, such as 2026-01-31T12:00:00Z, in the years 1000 to 9998'),
  ...documentedAs({ type: 'string', format: 'date-time' }),
  ...options
})

/** A time in an answer. */
export const At = (description = 'ISO 8601, UTC.') => Type.String({ description })

/** Kinds that have ids from our sequences: `ledger.<kind>_ids`. */
export const idKinds = ['assistant', 'lead', 'campaign', 'phone_number', 'api_key', 'blacklist'] as const
export type IdKind = typeof idKinds[number]

/** One value for each kind. */
export function forEachKind<Value> (valueOf: (kind: IdKind) => Value): Record<IdKind, Value> {
  const values: object = Object.fromEntries(idKinds.map((kind) => [kind, valueOf(kind)]))
  return values as Record<IdKind, Value> // every kind is there
}
