// Signs the body of an attempt and posts it to its endpoint.
import type { Pool } from 'pg'
import type { Attempt } from '../deliveries/claim.js'
import { openHeaders } from '../deliveries/options.js'
import { webhookUrlProblem, type UrlRules } from './guard.js'
import type { Result } from '../../src/features/webhooks/outcome.js'
import type { Poster } from './post.js'
import { unseal, type SecretKeys } from '../../src/privacy/sealed-text.js'
import { tracing, type SpanOptions } from '../../src/tracing/tracing.js'
import { userSecrets } from './secrets.js'
import { signedHeaders } from './sign.js'

interface SendOptions {
  pool: Pool
  poster: Poster
  keys: SecretKeys
  /** Whole time of a request, in milliseconds. */
  timeoutMs: number
  rules: UrlRules
  version: string
}

/** Timeout of attempts that crashed their workers. */
const suspectMs = 5_000

/** @throws when `signal` is aborted, or when this process has a fault of its own */
export async function send (attempt: Attempt, signal: AbortSignal, options: SendOptions): Promise<Result> {
  const span = tracing.tracer?.start('webhook attempt', spanOptions(attempt))
  if (!span) return await post(attempt, signal, options)
  try {
    const result = await post(attempt, signal, options, { traceparent: span.traceparent })
    span.set(result.kind === 'answer' ? { 'http.response.status_code': result.status } : { 'error.type': result.stage })
    span.end(result.kind === 'answer' && result.status < 400 ? undefined : result)
    return result
  } catch (error) {
    span.end(error)
    throw error
  }
}

/** Leaves out the URL, which may hold secrets of the user. */
const spanOptions = ({ delivery_id, trigger, n, traceparent }: Attempt): SpanOptions => ({
  kind: 'client',
  parent: traceparent ?? undefined,
  attributes: { 'ringledger.delivery': delivery_id, 'ringledger.trigger': trigger, 'ringledger.attempt': n }
})

async function post (
  attempt: Attempt, signal: AbortSignal, options: SendOptions, traced?: { traceparent: string }
): Promise<Result> {
  const { url, body, delivery_id: id, n, started_at: at } = attempt
  const problem = webhookUrlProblem(url, options.rules)
  if (problem !== undefined) return { kind: 'failure', stage: 'blocked', message: `the webhook URL ${problem}` }
  const own = openHeaders(options.keys, attempt.user_id, attempt.headers)
  attempt.header_names = Object.keys(own).join(', ') || null
  const secrets = await secretsOf(attempt, options)
  return await options.poster.post({
    url,
    headers: { ...own, ...signedHeaders({ id, attempt: n, at }, options.version, body, secrets), ...traced },
    body,
    timeoutMs: attempt.isSuspect ? Math.min(suspectMs, options.timeoutMs) : options.timeoutMs,
    signal
  })
}

async function secretsOf ({ user_id: userId, secrets }: Attempt, { pool, keys }: SendOptions): Promise<string[]> {
  if (secrets.length === 0) return [(await userSecrets(pool, keys, userId)).secret]
  return secrets.map((row) => unseal(keys, userId, row))
}
