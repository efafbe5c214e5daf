// What every route refuses alike, added to its part of the API document.
import type { FastifySchema, RouteOptions } from 'fastify'
import type { TSchema } from 'typebox'
import { documentedPath } from '../path-id.js'
import { invalid, refusal } from './describe.js'
import { answerHeaders, pick, takenEncodings, requestHeaders, type AnswerHeader, type RequestHeader } from './headers.js'
import { optionalBody } from './document/shown-schemas.js'

/** A schema as @fastify/swagger reads it: with an example, a description and headers. */
type Described = TSchema & { 'x-response-description'?: string, examples?: unknown[], headers?: object }

interface Refusal { why: string, schema: Described, headers?: AnswerHeader[], others?: object }

const refusals: Record<string, Refusal> = {
  400: {
    why: 'The body is not JSON in UTF-8, or has a key that is never accepted.',
    schema: refusal(
      'The body is not valid JSON, or has a key that is never accepted: __proto__, or constructor with a prototype.')
  },
  401: {
    why: 'No token or API key, or one that is wrong, has expired or was revoked.',
    schema: refusal('Unauthenticated.'),
    headers: ['WWW-Authenticate']
  },
  403: {
    why: 'The token has another role, or the API key has not the scope.',
    schema: refusal('This needs a token without a role.')
  },
  404: { why: 'It does not exist, or belongs to another user.', schema: refusal('Not found.') },
  409: {
    why: 'Another request with this Idempotency-Key is being handled, or it cannot be done as things stand.',
    schema: refusal('A request with this Idempotency-Key is being handled: try again in a moment.'),
    headers: ['Retry-After']
  },
  410: {
    why: 'An operator deleted its events from the log for good: nothing can be written there any more.',
    schema: refusal('It was deleted for good.')
  },
  412: {
    why: 'If-Match does not hold; nothing was changed.',
    schema: refusal('It was changed in the meantime: read it again and send its present ETag.')
  },
  413: { why: 'The body is too large.', schema: refusal('The request is too large.') },
  415: {
    why: 'The body is not declared as JSON, in another charset than UTF-8, or compressed.',
    schema: refusal('The request body must be JSON: send Content-Type: application/json.'),
    others: takenEncodings
  },
  422: {
    why: 'Validation failed: every refused field with every reason, the first 500 where there are more. ' +
      'Paths have dots; `body` is the body as a whole.',
    schema: invalid({ 'X-Read-Position': ['must be the X-Read-Position of an answer, a whole number'] })
  },
  429: {
    why: 'Too many requests in this minute: of the user, or of an address without a valid token. ' +
      'Or too many reads of the user at once, or too many bytes of bodies.',
    schema: refusal('Too many requests: try again in 12 seconds.'),
    headers: ['Retry-After']
  },
  500: {
    why: 'It failed, or its outcome is not known: a retry with the same Idempotency-Key resolves that.',
    schema: refusal('Internal server error')
  },
  503: {
    why: 'A back end is away, or the read model behind X-Read-Position; nothing was changed.',
    schema: refusal('The service is not available right now. Nothing was changed.'),
    headers: ['Retry-After']
  }
}

/** The route's schema with what all routes share: usual refusals with examples, and headers. */
export function documented (route: Pick<RouteOptions, 'schema' | 'config' | 'url' | 'method'>): FastifySchema {
  const { schema = {}, config, url, method } = route
  const isUsers = url.includes('/user/')
  const takesKeys = isUsers && schema.security !== undefined && config?.isClosedToKeys !== true
  const given = responsesOf(schema)
  const isTagged = method === 'GET' && Object.hasOwn(given[200]?.headers ?? {}, 'ETag')
  const names = headersOf(schema, isTagged ? ['If-None-Match'] : config?.requestHeaders)
  const statuses = new Set([...Object.keys(given), ...impliedStatuses(schema, names)])
  const success: AnswerHeader[] = [
    'X-Correlation-Id',
    ...(schema.security ? ['X-Ignored-Fields' as const] : []),
    ...(names.includes('X-Read-Position') ? ['X-Read-Position' as const] : [])
  ]
  const response = Object.fromEntries([...statuses].map((status) =>
    [status, describe(status, given[status], success, config?.failure)]))
  const params = schema.params !== undefined && { params: documentedPath(schema.params) }
  const querystring = schema.querystring !== undefined && { querystring: withoutFilledIn(schema.querystring) }
  const optional = config?.isBodyOptional === true && { [optionalBody]: true }
  const headers = { type: 'object', properties: pick(requestHeaders, names) }
  const security = takesKeys && { security: tokenOrKey }
  return { ...schema, ...security, ...optional, ...params, ...querystring, headers, response }
}

/** A token or a key, as one scheme. */
const tokenOrKey: Array<Record<string, string[]>> = [{ bearerOrKey: [] }]

/** Those that the route names, in its config or in a schema. */
function headersOf ({ headers }: FastifySchema, named: readonly RequestHeader[] = []): RequestHeader[] {
  const hasProperties = typeof headers === 'object' && headers !== null && 'properties' in headers
  const properties = hasProperties ? headers.properties : {}
  const inSchema = Object.keys(properties ?? {})
  const known = Object.keys(requestHeaders) as RequestHeader[] // the keys of a literal
  const isRead = (name: RequestHeader) => named.includes(name) || inSchema.includes(name.toLowerCase())
  return known.filter((name) => name === 'X-Correlation-Id' || isRead(name))
}

function responsesOf ({ response }: FastifySchema): Record<string, Described> {
  return { ...response as Record<string, Described> | undefined } // Fastify leaves the type of answers open
}

function impliedStatuses (schema: FastifySchema, headers: readonly RequestHeader[]): string[] {
  return [
    ...(schema.security ? ['401', '403', '429'] : []),
    ...(schema.body ? ['400', '410', '413', '415', '422'] : []),
    ...(headers.includes('Idempotency-Key') ? ['409'] : []),
    ...(headers.includes('If-Match') ? ['412'] : []),
    '500', '503'
  ]
}

function describe (
  status: string, given: Described | undefined, success: AnswerHeader[], failure: string | undefined
): Described {
  const usual = refusals[status]
  if (!usual) return { ...given, headers: { ...given?.headers, ...pick(answerHeaders, success) } }
  const names = [...usual.headers ?? [], ...isEarly(status) ? early : late]
  const headers = { ...usual.others, ...pick(answerHeaders, names) }
  const words = status === '500' && failure ? refusal(failure) : usual.schema
  return { 'x-response-description': usual.why, ...(given?.examples ? given : words), headers }
}

const readHeaders: AnswerHeader[] = ['X-Read-Position', 'X-Ignored-Fields']
const limitHeaders: AnswerHeader[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
/** By how far its request came; the same for every route, so that clients have one refusal of a kind. */
const early: AnswerHeader[] = ['X-Correlation-Id', ...limitHeaders]
const late: AnswerHeader[] = [...early, ...readHeaders]
const isEarly = (status: string) => ['400', '401', '403', '413', '415'].includes(status)

/** A parameter that is filled in where it is absent is not required. */
function withoutFilledIn (query: unknown): unknown {
  if (!isObjectSchema(query)) return query
  const required = (query.required ?? []).filter((name) => !('default' in (query.properties[name] ?? {})))
  return { ...query, required }
}

function isObjectSchema (schema: unknown): schema is { properties: Record<string, object>, required?: string[] } {
  return typeof schema === 'object' && schema !== null && 'properties' in schema
}
