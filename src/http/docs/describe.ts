// How routes describe themselves: headers, examples, refusals; and what the API document adds to each of them.
import type { FastifySchema, RouteOptions } from 'fastify'
import Type, { type TSchema } from 'typebox'
import type { FieldErrors } from '../../domain/rejection.js'
import { ErrorAnswer } from '../app-types.js'
import { tokenOrKey } from './document.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Headers that the route reads, for the API document; every route reads `X-Correlation-Id`. */
    requestHeaders?: readonly RequestHeader[]
  }
}

interface HeaderText {
  type: 'string' | 'integer'
  description: string
  pattern?: string
  maxLength?: number
  examples?: Array<string | number>
}

/** Headers that a route reads; it names them in `config.requestHeaders`. No examples: the page would send them. */
export const requestHeaders = {
  'If-None-Match': {
    type: 'string',
    description: 'The ETag of an earlier answer. While it is the present one, the answer is 304, without a body.'
  },
  'Idempotency-Key': {
    type: 'string',
    pattern: '^[ -~]+$',
    maxLength: 255,
    description: '1 to 255 printable ASCII characters of your choice, such as a UUID. ' +
      'The same key and body give the first answer again instead of a second command, for 24 hours.'
  },
  'If-Match': {
    type: 'string',
    description: 'The ETag that the change is based on, such as `"0"`. ' +
      'When it has changed since, nothing is done and the answer is 412.'
  },
  'X-Read-Position': {
    type: 'string',
    pattern: '^[0-9]{1,19}$',
    description: 'What an earlier answer said in this header: the answer is at least as new as that, or 503, ' +
      'also when nothing is there yet. What is no position is a 422.'
  },
  'X-Correlation-Id': {
    type: 'string',
    description: 'Names the request in logs, events and webhooks: ' +
      '1 to 64 letters, digits, dots, underscores or hyphens. Anything else is replaced.'
  }
} satisfies Record<string, HeaderText>
export type RequestHeader = keyof typeof requestHeaders

const text = (description: string, example: string): HeaderText =>
  ({ type: 'string', description, examples: [example] })
const whole = (description: string, example: number): HeaderText =>
  ({ type: 'integer', description, examples: [example] })

export const answerHeaders = {
  ETag: text('Names what is shown, for If-Match: the revision, or a digest for a lead and for the options of a webhook. An assistant whose phone number ' +
    'was released, or whose webhook is suspended or paused, has a digest of that behind its revision.', '"0"'),
  'X-Read-Position': text('Position in the log that all of the answer includes, also a 404 of a read; ' +
    'sent back with a GET, that answer is at least as new.', '48213'),
  'X-Read-Model': text('`pending` when reads do not show the change yet; absent otherwise.', 'pending'),
  'X-Ignored-Fields': text('Fields of the body, or query parameters, that nobody knows, percent-encoded, ' +
    'separated by commas; absent when there are none.', 'nickname, favourite%20colour'),
  'Idempotent-Replayed': text('`true` when this answer was given before, to the same Idempotency-Key.', 'true'),
  'WWW-Authenticate': text('How to say who is asking, and why the token that came was refused (RFC 6750).',
    'Bearer error="invalid_token", error_description="The token has expired"'),
  'Retry-After': whole('Seconds to wait before the next try.', 1),
  'X-Correlation-Id': text(
    'Names the request in logs, events and webhooks: yours, or one made here.', 'signup-7421'),
  'X-RateLimit-Limit': whole('Requests that the user may make in a minute.', 600),
  'X-RateLimit-Remaining': whole('Requests that are left in this minute.', 599),
  'X-RateLimit-Reset': whole('Seconds until the count starts anew.', 60)
} satisfies Record<string, HeaderText>
type AnswerHeader = keyof typeof answerHeaders

/** The header of an export. */
export const fileName = (name: string, ending = 'csv') =>
  ({ 'Content-Disposition': text('That it is a file, and its name.', `attachment; filename="${name}.${ending}"`) })

function pick<Name extends string> (
  headers: Record<Name, HeaderText>, names: readonly Name[]
): Record<string, HeaderText> {
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}

/** Headers of the answer to a write. */
export const writeHeaders = ['X-Read-Position', 'X-Read-Model', 'X-Ignored-Fields', 'Idempotent-Replayed'] as const

/** Headers of the answer to a write that only changes the delivery log. */
export const replayHeaders = ['Idempotent-Replayed'] as const

/** The answer of a command: a message and data, whose schema must have a title. */
export const withMessage = <Data extends TSchema>(
  description: string, data: Data, value: { message: string, data: unknown },
  headers: readonly AnswerHeader[] = ['ETag', ...writeHeaders], title = `${titleOf(data)}Answer`
) => answered(description, Type.Object({ message: Type.String(), data }, { title }), value, headers)

export function example<Schema extends TSchema> (schema: Schema, value: unknown): Schema {
  return { ...schema, examples: [value] }
}

/** The name of a schema in the API document, and so in clients. */
export const titleOf = (schema: object): string => String(Reflect.get(schema, 'title'))

/** The answer of a GET of one thing, whose schema has a title. */
export const One = <Data extends TSchema>(data: Data) => Type.Object({ data }, { title: `One${titleOf(data)}` })

/** A successful answer: what it means, an example, and the headers it may carry. */
export function answered<Schema extends TSchema> (
  description: string, schema: Schema, value: unknown, headers: readonly AnswerHeader[] = []
): Schema {
  return { ...example(schema, value), 'x-response-description': description, headers: pick(answerHeaders, headers) }
}

/** A refusal whose words differ from the usual ones of its status. */
export const refusal = (message: string) => example(ErrorAnswer, { message })

/** A 422 with the fields that this route is likely to refuse. */
export const invalid = (errors: FieldErrors) => example(ErrorAnswer, { message: 'The given data was invalid.', errors })

/** A schema as @fastify/swagger reads it: with an example, a description and headers. */
type Described = TSchema & { title?: string, 'x-response-description'?: string, examples?: unknown[], headers?: object }

const whyRefused: Record<string, string> = {
  400: 'The body is not JSON in UTF-8, or has a key that is never accepted.',
  401: 'No token or API key, or one that is wrong, has expired or was revoked.',
  403: 'The token has another role, or the API key has not the scope.',
  404: 'It does not exist, or belongs to another user.',
  409: 'Another request with this Idempotency-Key is being handled, or it cannot be done as things stand.',
  410: 'An operator deleted its events from the log for good: nothing can be written there any more.',
  412: 'If-Match does not hold; nothing was changed.',
  413: 'The body is too large.',
  415: 'The body is not declared as JSON, in another charset than UTF-8, or compressed.',
  422: 'Validation failed: every refused field with every reason, the first 500 where there are more. ' +
    'Paths have dots; `body` is the body as a whole.',
  429: 'Too many requests in this minute: of the user, or of an address without a valid token. ' +
    'Or too many reads of the user at once, or too many bytes of bodies.',
  500: 'It failed, or its outcome is not known: a retry with the same Idempotency-Key resolves that.',
  503: 'A back end is away, or the read model behind X-Read-Position; nothing was changed.'
}

/** Headers of refusals, by how far a request came. The same on every route, so that clients have one type for each. */
const early: AnswerHeader[] = ['X-Correlation-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']
const late: AnswerHeader[] = [...early, 'X-Read-Position', 'X-Ignored-Fields']

/** Refusals that depend on the route. All others are documented once, in `refused`. */
const ofRoute: Record<string, Described> = {
  404: refusal('Not found.'),
  422: invalid({ 'X-Read-Position': ['must be the X-Read-Position of an answer, a whole number'] })
}
const ofAnyRoute = Object.keys(whyRefused).filter((status) => !(status in ofRoute))

const refused: Described = {
  ...refusal('Unauthenticated.'),
  'x-response-description':
    `Refused, or failed:\n\n${ofAnyRoute.map((status) => `- ${status}: ${whyRefused[status]}`).join('\n')}`,
  headers: {
    ...pick(answerHeaders, [...early, 'WWW-Authenticate', 'Retry-After', ...late]),
    'Accept-Encoding': text('What a body may be encoded by: nothing.', 'identity') // of a 415
  }
}

/** The route's schema with what all routes share: usual refusals with examples, and headers. */
export function documented (route: Pick<RouteOptions, 'schema' | 'config' | 'url' | 'method'>): FastifySchema {
  const { schema = {}, config, url, method } = route
  const given: Record<string, Described> = Object(schema.response)
  const isTagged = method === 'GET' && Object.hasOwn(given[200]?.headers ?? {}, 'ETag')
  const names = headersOf(schema, isTagged ? ['If-None-Match'] : config?.requestHeaders)
  const security = url.startsWith('/health/') ? undefined : [{ bearer: [] }]
  const success: AnswerHeader[] = [
    'X-Correlation-Id',
    ...(security ? ['X-Ignored-Fields' as const] : []),
    ...(names.includes('X-Read-Position') ? ['X-Read-Position' as const] : [])
  ]
  const mayBeInvalid = (schema.body ?? schema.querystring ?? schema.headers) !== undefined
  const own = Object.entries({ ...mayBeInvalid && { 422: ofRoute[422] }, ...given })
    .map(([status, answer]) => [status, describe(status, answer, success)])
  const takesKeys = url.includes('/user/') && config?.isClosedToKeys !== true
  return {
    ...schema,
    ...security && { security: takesKeys ? tokenOrKey : security },
    ...config?.isBodyOptional === true && { 'x-optional-body': true },
    headers: { type: 'object', properties: pick(requestHeaders, names) },
    response: { ...Object.fromEntries(own), default: refused }
  }
}

/** The headers that the route names in its config or in a schema. */
function headersOf ({ headers }: FastifySchema, named: readonly RequestHeader[] = []): RequestHeader[] {
  const inSchema = Object.keys(Object(Object(headers).properties))
  const known = Object.keys(requestHeaders) as RequestHeader[] // the keys of a literal
  const isRead = (name: RequestHeader) => named.includes(name) || inSchema.includes(name.toLowerCase())
  return known.filter((name) => name === 'X-Correlation-Id' || isRead(name))
}

/** A route's own refusal keeps its example, and gets the headers of every late refusal. */
function describe (status: string, given: Described | undefined, success: AnswerHeader[]): Described {
  const why = whyRefused[status]
  if (why === undefined) return { ...given, headers: { ...given?.headers, ...pick(answerHeaders, success) } }
  return {
    'x-response-description': why,
    ...(given?.examples ? given : ofRoute[status]),
    headers: pick(answerHeaders, [...status === '503' ? ['Retry-After' as const] : [], ...late])
  }
}
