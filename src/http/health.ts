// Whether the process lives, and whether it can do its work.
import type { FastifyInstance } from 'fastify'

/** Names what a role needs; each check resolves when it is there and rejects when it is not. */
export type HealthChecks = Record<string, () => Promise<unknown>>

const longestCheckMs = 2_000

/** `/health/live` and `/health/ready`, without a prefix, so that probes do not depend on BASE_PATH. */
export function addHealth (app: FastifyInstance, checks: HealthChecks): void {
  app.get('/health/live', { schema: { hide: true }, logLevel: 'warn' }, () => ({ status: 'ok' }))
  app.get('/health/ready', { schema: { hide: true }, logLevel: 'warn' }, async (request, reply) => {
    const results = await Promise.all(Object.entries(checks).map(async ([name, check]) => {
      const isThere = await withTimeout(check()).then(() => true, (error: unknown) => {
        request.log.warn({ err: error, check: name }, 'not ready')
        return false
      })
      return [name, isThere ? 'ok' : 'failing']
    }))
    const isReady = results.every(([, status]) => status === 'ok')
    return await reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ok' : 'failing', checks: Object.fromEntries(results) })
  })
}

async function withTimeout (check: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${longestCheckMs} ms`)), longestCheckMs)
  })
  await Promise.race([check, timeout]).finally(() => clearTimeout(timer))
}
