// What arrived: the body, what the schema and the rules refuse of it, and which of its fields are unknown.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import type { FieldErrors } from '../../domain/rejection.js'
import { soundFields, type Submitted } from '../../domain/validation.js'
import { fieldErrors, unstorable } from './field-errors.js'

const longestHeader = 2_048

/**
 * Reads a body of a route with `attachValidation`, so that what the rules say is answered together with what the schema
 * refused. Unknown fields are ignored and named in the header `X-Ignored-Fields`.
 */
export function received<Schema extends TObject> (
  request: Pick<FastifyRequest, 'body' | 'validationError'>, reply: FastifyReply, schema: Schema
): Submitted<Static<Schema>> {
  const body = isObject<Static<Schema>>(request.body) ? request.body : {}
  nameIgnored(reply, body, schema.properties)
  const problems = request.validationError?.validation ?? []
  const refused = { ...unstorable(request.body), ...fieldErrors(problems) }
  return isSound<Static<Schema>>(body, refused) ? { body } : { body, refused }
}

interface Rules<Body extends object, Facts, Command> {
  /** Looks up what the rules need, for those fields that the schema took. */
  facts? (fields: Partial<Body>): Promise<Facts>
  validate (submitted: Submitted<Body>, facts: Partial<Facts>): Command
}

/**
 * Looks up the facts and asks the rules, once: `validated` gives the command, or throws what they say, at every call.
 * Nothing is known when a back end is away. Then a body that the schema has refused is refused without the facts.
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

/** The schema has taken all of it. */
const isSound = <Body extends object>(_body: Partial<Body>, refused: FieldErrors): _body is Body =>
  Object.keys(refused).length === 0

/** Names unknown fields in `X-Ignored-Fields`; `known` are the properties of the schema. */
export function nameIgnored (reply: FastifyReply, given: object, known: object): void {
  // TypeBox leaves the type of a schema's parts open.
  const ignored = unknownFields(given, { properties: known as NonNullable<Names['properties']> })
  if (ignored.length === 0) return
  const others = [reply.getHeader('x-ignored-fields') ?? []].flat() // of the query string, where this is a body
  reply.header('x-ignored-fields', [...others, headerList(ignored)].join(', ').slice(0, longestHeader))
}

/** The same of a query string, which some routes know nothing of. */
export function nameIgnoredParameters ({ query, routeOptions }: FastifyRequest, reply: FastifyReply): void {
  nameIgnored(reply, Object(query), Object(Object(routeOptions.schema?.querystring).properties))
}

/** Any names as ASCII, and no more of them than a client reads of a header. */
function headerList (names: string[]): string {
  const ascii = names.slice(0, 50).map((name) => encodeURIComponent(name.slice(0, 100).toWellFormed()))
  return ascii.join(', ').slice(0, longestHeader)
}

/** True for any JSON object; what the schema refused of it is in `refused`, which is why the type may be claimed. */
function isObject<Body extends object> (value: unknown): value is Partial<Body> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a schema says of the names inside a value. */
interface Names {
  properties?: Record<string, Names>
  items?: Names
  additionalProperties?: unknown
}

/** Paths, with dots, of the fields that `schema` does not name; in objects whose keys are free every name is known. */
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
