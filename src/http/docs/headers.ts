// The headers that requests and answers may carry, as the API document describes them.

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

/** Headers of answers. */
export const answerHeaders = {
  ETag: text('Names what is shown, for If-Match: the revision, or a digest for a lead. An assistant whose phone number ' +
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
export type AnswerHeader = keyof typeof answerHeaders

/** Of a 415. Pages of other origins do without it. */
export const takenEncodings = { 'Accept-Encoding': text('What a body may be encoded by: nothing.', 'identity') }

/** Of an export. */
export const fileName = (name: string, ending = 'csv') =>
  ({ 'Content-Disposition': text('That it is a file, and its name.', `attachment; filename="${name}.${ending}"`) })

/** The headers of these names, to be documented. */
export function pick<Name extends string> (
  headers: Record<Name, HeaderText>, names: readonly Name[]
): Record<string, HeaderText> {
  return Object.fromEntries(names.map((name) => [name, headers[name]]))
}
