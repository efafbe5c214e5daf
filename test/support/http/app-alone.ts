// The app with every route and nothing behind it: for what it answers by itself, such as the API document.
import pino from 'pino'
import { buildApp } from '../../../src/app.js'
import type { App } from '../../../src/http/app-types.js'
import { openMetrics } from '../../../src/http/metrics.js'
import { secrets } from '../auth/secrets.js'

/** Stands for what only a request or a scrape uses: it can be called, and each of its properties is the same again. */
export const unused = new Proxy(() => {}, { apply: () => unused, get: (_target, name) => typeof name === 'symbol' ? undefined : unused }) as never

/** Ask it by `inject`; it does not listen. */
export async function appAlone ({ basePath = '', publicUrl }: { basePath?: string, publicUrl?: string | undefined } = {}): Promise<App> {
  const logger = pino({ level: 'silent' })
  return await buildApp({
    logger,
    basePath,
    publicUrl,
    jwt: { secret: secrets.JWT_SECRET, roleClaim: 'role' },
    corsOrigins: [],
    rateLimit: { perMinute: 0 },
    healthChecks: {},
    metrics: openMetrics(logger),
    ops: { basePath, sessionKey: Buffer.alloc(32) } as never,
    routes: unused
  })
}
