// Options of an assistant's webhook: headers of its user, which each attempt carries, and a bound on attempts a second.
import Type, { type Static } from 'typebox'
import { inWords, Nullable } from '../../domain/json.js'
import { problem, soundBody, type Problem, type Submitted } from '../../domain/rejection.js'

export type OwnHeaders = Record<string, string>

const bounds = { maxProperties: 10, propertyNames: { maxLength: 100 } }
const value = {
  type: 'string',
  minLength: 1,
  maxLength: 1_000,
  pattern: '^([!-~]([\\t -~]*[!-~])?)?$',
  ...inWords('must be printable ASCII characters without a space at either end: encode others, such as by Base64')
}
const MaxPerSecond = Nullable(Type.Integer({ minimum: 1, maximum: 100 }), {
  description: 'Most attempts of the schedule that start in a second; null for no such bound. Tests and redeliveries are not counted.'
})

export const WebhookOptionsBody = Type.Object({
  headers: Type.Optional(Type.Unsafe<OwnHeaders>({
    type: 'object',
    ...bounds,
    additionalProperties: value,
    description: 'Sent with each attempt from then on, in place of all that were set before. Names compare without case. Not ' +
      'those that Ringledger sets, such as user-agent, content-* and webhook-*, nor host and those of the connection.'
  })),
  max_per_second: Type.Optional(MaxPerSecond)
}, { title: 'WebhookOptionsInput' })
/** An absent field stays as it is. */
export type WebhookOptionsBody = Static<typeof WebhookOptionsBody>

export const WebhookOptions = Type.Object({
  headers: Type.Unsafe<OwnHeaders>({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'The last four characters of each value are shown; none where it has eight or fewer.'
  }),
  max_per_second: MaxPerSecond
}, { title: 'WebhookOptions' })
export type WebhookOptions = Static<typeof WebhookOptions>

const longestHidden = 8
export const shownHeaders = (headers: OwnHeaders): OwnHeaders => Object.fromEntries(Object.entries(headers)
  .map(([name, value]) => [name, `…${value.length > longestHidden ? value.slice(-4) : ''}`]))

const ours = /^(content-.*|webhook-.*|user-agent|traceparent|tracestate)$/
const ofConnection = new Set([
  'connection', 'expect', 'http2-settings', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te',
  'trailer', 'transfer-encoding', 'upgrade'
])

function nameProblem (name: string): string | undefined {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(lower)) return 'must have a name of letters, digits and hyphens, such as X-Api-Key'
  if (ours.test(lower)) return 'must have another name, such as X-Api-Key: each webhook has this one already'
  if (lower === 'host') return 'must have another name: the host is that of webhook_url'
  if (ofConnection.has(lower)) return 'must have another name, such as authorization or X-Api-Key: this one is of the connection'
  return undefined
}

function nameProblems (headers: unknown): Problem[] {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return []
  const seen = new Set<string>()
  return Object.keys(headers).map((name) => {
    const isSeen = seen.size === seen.add(name.toLowerCase()).size
    const words = isSeen ? 'must be there once: names compare without case' : nameProblem(name)
    return words !== undefined && problem(`headers.${name.slice(0, bounds.propertyNames.maxLength).toWellFormed()}`, words)
  })
}

/** @throws Rejection `invalid` with every field that is wrong, and no value of a header */
export const validateOptions = (submitted: Submitted<WebhookOptionsBody>): WebhookOptionsBody =>
  soundBody(submitted, nameProblems(submitted.body.headers))
