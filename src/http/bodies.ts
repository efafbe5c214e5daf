// Takes JSON in UTF-8, or CSV where a route allows it; never guesses, replaces or cuts what arrives. Compiles schemas
// for two validators, of bodies as they are and of texts of a query or a path, and for the serializer.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { ErrorObject } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyReply, FastifyRequest, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { Static, TObject, TSchema } from 'typebox'
import { isObject } from '../domain/json.js'
import { type FieldErrors, httpError, invalid, mostFields, soundFields, type Submitted, unstorable } from '../domain/rejection.js'
import type { App } from './app-types.js'
import { fieldErrors, notDecimal, openAjv, withNotDecimal } from './field-errors.js'
import { dayOrInstant, isDayOrInstant } from './filters.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Most JSON values in a body of this route. */
    mostValues?: number
    /** The route takes an empty body as an empty object. */
    isBodyOptional?: boolean
    /** The route reads `text/csv` as a stream. */
    takesCsv?: boolean
  }
}

/** What a body costs grows with its values; its length alone says little. */
const mostValues = 5_000

/** The error code of a compressed body. */
export const encodedBody = 'ENCODED_BODY'

/**
 * Takes only `application/json`, without a charset or with that of JSON: any other is a 415, invalid UTF-8 is a 400. Of
 * a duplicate key the last one counts; keys that reach for prototypes are a 400. Too many values are a 422, before
 * parsing. A route without a body, or with an optional one, takes an empty body: many clients declare a body although
 * they send none.
 */
export function takeOnlyJson (app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addHook('preParsing', async ({ method, headers }, reply) => {
    const encoding = headers['content-encoding'] ?? 'identity'
    if (['GET', 'HEAD'].includes(method) || /^\s*identity\s*$/i.test(encoding)) return
    reply.header('accept-encoding', 'identity') // RFC 9110, 15.5.16
    throw Object.assign(httpError(415, 'A body that is encoded is not taken.'), { code: encodedBody })
  })
  app.addHook('preValidation', async (request) => {
    if (request.routeOptions.config.isBodyOptional) request.body ??= {}
  })
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    const charset = charsetOf(request)
    if (!/^(utf-?8|us-ascii)$/i.test(charset)) return done(httpError(415, `JSON is UTF-8, not ${charset}`))
    const { schema, config: { isBodyOptional, mostValues: most = mostValues } } = request.routeOptions
    if (body.length === 0 && (isBodyOptional || schema?.body === undefined)) return done(null)
    if (!isUtf8(body)) return done(httpError(400, 'The body is not valid UTF-8.'))
    if (hasMoreValues(body, most)) {
      return done(invalid({ body: [`must hold at most ${most} values, with every object and array and everything in them`] }))
    }
    return parse(request, body.toString('utf8'), done)
  })
}

const charsetOf = ({ headers }: FastifyRequest) =>
  /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const space = 0x20

/**
 * Whether `json` holds more than `most` values. The whole counts, and every object, array and part of them; if a key
 * occurs twice, both values count. The answer means nothing if the text is not JSON.
 */
function hasMoreValues (json: Buffer, most: number): boolean {
  if (json.length <= 2 * most) return false // between two values there is at least a comma or a bracket
  let count = 1
  let isOpened = false
  for (let at = 0; at < json.length && count <= most; at++) {
    const byte = json[at] ?? 0
    if (byte <= space) continue
    if (byte === comma) count++
    else if (isOpened && byte !== closeBracket && byte !== closeBrace) count++ // the first part of what was opened
    isOpened = byte === openBracket || byte === openBrace
    if (byte === quote) at = endOfString(json, at)
  }
  return count > most
}

/** The index of the quote that ends the string from `from` on. */
function endOfString (json: Buffer, from: number): number {
  let at = from + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}

// CSV bodies: routes that take them get the unread stream.

/** @throws an error with status 415 on routes that take none, or in another charset than UTF-8 or UTF-16 */
export function takeCsvWhereWanted (app: App): void {
  app.addContentTypeParser('text/csv', (request, payload, done) => {
    const { config } = request.routeOptions
    const charset = charsetOf(request)
    if (config.takesCsv && /^utf-?(8|16(le|be)?)$/i.test(charset)) return done(null, payload)
    done(httpError(415, `CSV is not taken here, or not in ${charset}`))
  })
}

export const isCsv = ({ headers }: Pick<FastifyRequest, 'headers'>) => /^\s*text\/csv\s*(;|$)/i.test(headers['content-type'] ?? '')

// Collects what the schema and the rules refuse of a body, and its unknown fields.

const longestHeader = 2_048

/**
 * Reads the body of a route with `attachValidation`, so that one answer has what the schema and what the rules refuse.
 * Ignores unknown fields and names them in the header `X-Ignored-Fields`.
 */
export function received<Schema extends TObject> (
  request: Pick<FastifyRequest, 'body' | 'validationError'>, reply: FastifyReply, schema: Schema
): Submitted<Static<Schema>> {
  const body: Partial<Static<Schema>> = isObject(request.body) ? request.body : {}
  nameIgnored(reply, body, schema.properties)
  const problems = request.validationError?.validation
  const refused = { ...unstorable(request.body), ...problems && fieldErrors(problems) }
  return isSound<Static<Schema>>(body, refused) ? { body } : { body, refused }
}

interface Rules<Body extends object, Facts, Command> {
  /** Looks up what the rules need, for the fields that passed the schema. */
  facts? (fields: Partial<Body>): Promise<Facts>
  validate (submitted: Submitted<Body>, facts: Partial<Facts>): Command
}

/**
 * Looks up the facts and runs the rules once; each call of `validated` returns the command or throws the refusal. If a
 * back end is away, a body that its schema refused is refused without the facts.
 */
export async function askRules<Body extends object, Facts, Command> (
  submitted: Submitted<Body>, rules: Rules<Body, Facts, Command>
): Promise<{ facts: Partial<Facts>, validated: () => Command }> {
  const facts: Partial<Facts> = await rules.facts?.(soundFields(submitted)).catch((error: unknown) => {
    if (!submitted.refused) throw error
    return {}
  }) ?? {}
  try {
    const command = rules.validate(submitted, facts)
    return { facts, validated: () => command }
  } catch (error) {
    return { facts, validated: () => { throw error } }
  }
}

/** The schema has accepted the whole body. */
export const isSound = <Body extends object>(_body: Partial<Body>, refused: FieldErrors): _body is Body =>
  Object.keys(refused).length === 0

/** Names unknown fields in `X-Ignored-Fields`; `known` are the properties of the schema. */
export function nameIgnored (reply: FastifyReply, given: object, known: object): void {
  // TypeBox leaves the type of a schema's parts open.
  const ignored = unknownFields(given, { properties: known as NonNullable<Names['properties']> })
  if (ignored.length === 0) return
  const others = [reply.getHeader('x-ignored-fields') ?? []].flat() // of the query string, where this is a body
  reply.header('x-ignored-fields', [...others, headerList(ignored)].join(', ').slice(0, longestHeader))
}

/** Like `nameIgnored`, for a query string. Some routes have no schema for it. */
export function nameIgnoredParameters ({ query, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  nameIgnored(reply, Object(query), Object(Object(routeOptions.schema?.querystring).properties))
}

/** Encodes any names as ASCII, and sends no more of them than a client reads of a header. */
function headerList (names: string[]): string {
  const ascii = names.slice(0, 50).map((name) => encodeURIComponent(name.slice(0, 100).toWellFormed()))
  return ascii.join(', ').slice(0, longestHeader)
}

/** The part of a schema that names fields. */
interface Names {
  properties?: Record<string, Names>
  items?: Names
  additionalProperties?: unknown
}

/** Dotted paths of the fields that `names` lacks. In objects with free keys every name is known. */
function unknownFields (value: unknown, names: Names, path = ''): string[] {
  const { properties, items, additionalProperties } = names
  if (Array.isArray(value)) {
    return items ? value.flatMap((item, index) => unknownFields(item, items, `${path}${index}.`)) : []
  }
  if (typeof value !== 'object' || value === null || !properties || additionalProperties === true) return []
  return Object.entries(value).flatMap(([name, inner]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    return known ? unknownFields(inner, known, `${path}${name}.`) : [`${path}${name}`]
  })
}

const bodies = openAjv({ coerceTypes: false })
const texts = openAjv({ coerceTypes: 'array', useDefaults: true })
addFormats.default(bodies)
addFormats.default(texts)
for (const validator of [bodies, texts]) validator.addFormat(dayOrInstant, isDayOrInstant)

/** More than `mostFields`, because one field can break several rules. */
const mostErrors = 4 * mostFields

/**
 * Does not coerce bodies: `"5"` is not an integer there, and `1` is not `true`. Compiles a schema for the first request
 * that needs it: all of them are a quarter of a start. Apps of one process share the compiled schemas.
 */
export const validatorCompiler: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = httpPart === 'body' ? bodies : texts
  const bounded: Bounded = (data) => {
    const validate = validator.compile(schema) // AJV caches by the schema object
    const odd = httpPart === 'body' ? [] : notDecimal(schema, data)
    const isValid = validate(data) && odd.length === 0
    bounded.errors = isValid ? null : withNotDecimal(validate.errors?.slice(0, mostErrors) ?? [], odd)
    validate.errors = null // a hostile body makes hundreds of thousands: free them
    return isValid
  }
  return bounded
}

/** As Fastify expects it: `errors` has what was refused, until the next call. */
interface Bounded {
  (data: unknown): boolean
  errors?: ErrorObject[] | null
}

/** What the schema refuses of a value, by field. Compiles at the first call. */
export function refusedBy (schema: TSchema): (value: object) => FieldErrors {
  let validate: ReturnType<typeof validatorCompiler> | undefined
  return (value) => {
    validate ??= validatorCompiler({ schema, httpPart: 'body', method: 'POST', url: '' })
    validate(value)
    return fieldErrors(validate.errors ?? [])
  }
}

// Serializes answers by their schemas; compiles each for the first answer that needs it.

const compile = SerializerSelector()({}, {})

/** Shared by all apps of the process. Bounded, because schemas are constants of the routes. */
const compiled = new WeakMap<object, (data: unknown) => string>()

/** Fastify's own would compile each schema again for each route and app, before the first request. */
export const serializerCompiler: FastifySerializerCompiler<TSchema> = (route) => (data) => {
  const serialize = compiled.get(route.schema) ?? compile({ ...route, httpStatus: route.httpStatus ?? '' })
  compiled.set(route.schema, serialize)
  return serialize(data)
}
