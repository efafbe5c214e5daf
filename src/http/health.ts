// What a process says about itself: liveness, readiness, and its metrics.
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import { createHash, timingSafeEqual } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import Type from 'typebox'
import { isOfOutage } from '../log/errors.js'
import { atMostEvery, joinRunning, withTimeout } from '../timing.js'
import { hasRole, only } from './auth.js'
import { answered, example } from './docs/describe.js'
import type { Metrics } from './metrics.js'

/** A note of a check that passed, if it has one. */
export type Remark = string | undefined

/** By name. A check resolves, perhaps with a remark, when its back end is there, and rejects when it is not. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const longestCheckMs = 2_000

/** In an outage of the event store, a check that is late fails with that error within this time. */
const reasonWithinMs = 4_000

/** Probes within this time share one run: each run asks every back end. */
const checkEveryMs = 1_000

/**
 * Adds `/health/live` and `/health/ready`, without a prefix, so that probes do not depend on BASE_PATH, and without a
 * limit. A process that is leaving is not ready, whatever the checks say. Only operators see which check failed.
 * Register authentication before.
 */
export function addHealth (app: FastifyInstance, checks: HealthChecks, leaving?: AbortSignal): void {
  const readiness = atMostEvery(checkEveryMs, readinessOf(checks, app.log))
  app.get('/health/live', { schema: liveSchema, ...ofProbes }, () => ({ status: 'ok' }))
  app.get('/health/ready', { schema: readySchema, ...ofProbes }, async (request, reply) => {
    if (leaving?.aborted) return await reply.code(503).send({ message: 'The service is stopping.', status: 'draining' })
    const [results, isOperator] = await Promise.all([readiness(), hasRole(request, 'ops')])
    const failing = Object.keys(results).filter((name) => results[name] === 'failing')
    const checks = isOperator && { checks: results }
    if (failing.length === 0) return { status: 'ok', ...checks }
    const message = isOperator ? `Not ready: ${failing.join(', ')}.` : 'The service is not ready.'
    return await reply.code(503).send({ message, status: 'failing', ...checks })
  })
}

/**
 * Runs all checks, and logs when one begins to fail and when it passes again. Joins a check that still runs since the
 * last time. Does not log an outage of the event store, nor a check that it makes late: the outage is logged where it
 * is noticed.
 */
function readinessOf (checks: HealthChecks, log: FastifyBaseLogger): () => Promise<Record<string, string>> {
  const shared = Object.entries(checks).map(([name, check]) => ({ name, check: joinRunning(check) }))
  const failing = new Set<string>()
  let outageAt = -Infinity
  return async () => Object.fromEntries(await Promise.all(
    shared.map(async ({ name, check }) => [name, await resultOf(name, check())])))

  async function resultOf (name: string, checking: Promise<unknown>): Promise<string> {
    try {
      const remark = await withTimeout(longestCheckMs, checking, () => new CheckLate())
      if (failing.delete(name)) log.info({ check: name }, 'ready again')
      return typeof remark === 'string' ? remark : 'ok'
    } catch (error) {
      if (error instanceof CheckLate) void reasonOf(checking, error).then((reason) => tell(name, reason))
      else tell(name, error)
      return 'failing'
    }
  }

  function tell (check: string, error: unknown): void {
    if (isOfOutage(error)) outageAt = performance.now()
    const isOfNow = error instanceof CheckLate && performance.now() - outageAt < longestCheckMs + reasonWithinMs
    if (failing.has(check) || isOfOutage(error) || isOfNow) return
    failing.add(check)
    log.warn({ err: error, check }, 'not ready')
  }
}

class CheckLate extends Error {
  override readonly name = 'CheckLate'
  constructor () {
    super(`no answer within ${longestCheckMs} ms`)
  }
}

/** The error that a late check ends with, if that is soon; else `late`. */
async function reasonOf (check: Promise<unknown>, late: CheckLate): Promise<unknown> {
  const reason = check.then(() => late, (error: unknown) => error)
  return await Promise.race([reason, delay(reasonWithinMs, late, { ref: false })])
}

// The probes in the API document.

const Checks = Type.Optional(Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'For operators: what became of each check, `ok`, `failing` or a remark.'
}))
const Health = Type.Object({ status: Type.String({ description: '`ok`.' }), checks: Checks }, { title: 'Health' })
const NotReady = Type.Object({
  message: Type.String({ description: 'What is wrong, for a person to read.' }),
  status: Type.String({ description: '`failing`, or `draining` of a process that is stopping.' }),
  checks: Checks
}, { title: 'NotReady' })

const notReadyAnswer = {
  ...example(NotReady, { message: 'The service is not ready.', status: 'failing' }),
  'x-response-description': 'It cannot do its work now, or is stopping.'
}

const liveSchema = {
  operationId: 'isLive',
  summary: 'Ask whether the process lives',
  description: 'Asks no back end. It has no limit and needs no token.',
  tags: ['health'],
  response: { 200: answered('It lives.', Health, { status: 'ok' }) }
}

const readySchema = {
  operationId: 'isReady',
  summary: 'Ask whether the process is ready for requests',
  description: 'It has no limit and needs no token. A token of the role ops is told of each check.',
  tags: ['health'],
  response: { 200: answered('It is ready.', Health, { status: 'ok' }), 503: notReadyAnswer }
}

/** The schemas only document: JSON.stringify writes the answers. */
const ofProbes = { logLevel: 'warn' as const, serializerCompiler: () => JSON.stringify }

// `/metrics`, for operators, and for the scraper with a token of its own.

/** Without a prefix, so that scrapers do not depend on BASE_PATH. Register authentication and rate limits before. */
export function addMetrics (app: FastifyInstance, metrics: Metrics, token: string | undefined): void {
  const asOperator = only('ops')
  app.get('/metrics', {
    schema: { hide: true },
    logLevel: 'warn',
    onRequest: async (request, reply) => { if (!token || !carries(request, token)) await asOperator(request, reply) }
  }, async (_request, reply) => await reply.type(metrics.contentType).send(await metrics.text()))
}

/** Compares digests, so that the time reveals neither the token nor its length. */
function carries ({ headers }: FastifyRequest, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1]
  return given !== undefined && timingSafeEqual(digest(given), digest(token))
}

const digest = (text: string) => createHash('sha256').update(text).digest()
