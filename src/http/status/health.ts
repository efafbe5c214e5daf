// Whether the process lives, and whether it can do its work.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'

/** What a check remarks, if anything, of a process that can do its work. */
export type Remark = string | undefined

/** What a role needs, by name: a check resolves when it is there, perhaps with a remark, and rejects when it is not. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const longestCheckMs = 2_000

/** `/health/live` and `/health/ready`, without a prefix, so that probes do not depend on BASE_PATH. */
export function addHealth (app: FastifyInstance, checks: HealthChecks): void {
  app.get('/health/live', { schema: { hide: true }, logLevel: 'warn' }, () => ({ status: 'ok' }))
  app.get('/health/ready', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    const results = await Promise.all(Object.entries(checks).map(async ([name, check]) =>
      [name, await resultOf(name, check, request.log)]))
    const isReady = results.every(([, status]) => status !== 'failing')
    const status = isReady ? 'ok' : 'failing'
    return await reply.code(isReady ? 200 : 503).send({ status, checks: Object.fromEntries(results) })
  })
}

async function resultOf (name: string, check: () => Promise<unknown>, log: FastifyBaseLogger): Promise<string> {
  try {
    const remark = await withTimeout(check())
    return typeof remark === 'string' ? remark : 'ok'
  } catch (error) {
    log.warn({ err: error, check: name }, 'not ready')
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
