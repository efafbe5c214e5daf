// Whether the process lives, and whether it can do its work.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { isOfOutage } from '../../errors.js'
import { hasRole } from '../auth/auth.js'
import { atMostEvery, oneAtATime } from './shared.js'

/** What a check remarks, if anything, of a process that can do its work. */
export type Remark = string | undefined

/** What a role needs, by name: a check resolves when it is there, perhaps with a remark, and rejects when it is not. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const longestCheckMs = 2_000

/** All who ask within this time get one answer: each run asks every back end. */
const checkEveryMs = 1_000

/**
 * `/health/live` and `/health/ready`, without a prefix, so that probes do not depend on BASE_PATH, and without a limit.
 * What failed is told to operators alone. Register authentication before.
 */
export function addHealth (app: FastifyInstance, checks: HealthChecks, everyMs = checkEveryMs): void {
  const readiness = atMostEvery(everyMs, readinessOf(checks, app.log))
  app.get('/health/live', { schema: { hide: true }, logLevel: 'warn' }, () => ({ status: 'ok' }))
  app.get('/health/ready', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    const [results, isOperator] = await Promise.all([readiness(), hasRole(request, 'ops')])
    const isReady = Object.values(results).every((status) => status !== 'failing')
    const status = isReady ? 'ok' : 'failing'
    return await reply.code(isReady ? 200 : 503).send({ status, ...(isOperator && { checks: results }) })
  })
}

/**
 * Runs all checks, and tells of each when it begins to fail and when it no longer does. One that has not ended since
 * the last run is waited for, and not begun again.
 */
function readinessOf (checks: HealthChecks, log: FastifyBaseLogger): () => Promise<Record<string, string>> {
  const shared = Object.entries(checks).map(([name, check]) => ({ name, check: oneAtATime(check) }))
  const tell = teller(log)
  return async () => Object.fromEntries(await Promise.all(shared.map(async ({ name, check }) =>
    [name, await resultOf(name, check, tell)])))
}

type Tell = (check: string, error?: unknown) => void

/** An outage of the event store is told where it is noticed. */
function teller (log: FastifyBaseLogger): Tell {
  const failing = new Set<string>()
  return (check, error) => {
    if (error === undefined && failing.delete(check)) log.info({ check }, 'ready again')
    if (error === undefined || failing.has(check) || isOfOutage(error)) return
    failing.add(check)
    log.warn({ err: error, check }, 'not ready')
  }
}

async function resultOf (name: string, check: () => Promise<unknown>, tell: Tell): Promise<string> {
  try {
    const remark = await withTimeout(check())
    tell(name)
    return typeof remark === 'string' ? remark : 'ok'
  } catch (error) {
    tell(name, error)
    return 'failing'
  }
}

async function withTimeout (check: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${longestCheckMs} ms`)), longestCheckMs)
  })
  return await Promise.race([check, timeout]).finally(() => clearTimeout(timer))
}
