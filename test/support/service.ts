// The whole service inside a test's process: a database and a log of its own in the back ends of the run, and the roles asked for.
import pino from 'pino'
import type { Role } from '../../src/composition/role.js'
import { startRoles } from '../../src/composition/roles.js'
import type { CompleteConfig } from '../../src/composition/complete-config.js'
import { openConnections, type Connections, type Urls } from '../../src/composition/connections.js'
import { loadConfig } from '../../src/config.js'
import { signToken } from '../../src/cli/running/sign-token.js'
import type { Answer } from './answer.js'
import { serveLog, type ServedLog } from './back-ends.js'
import { newAssistant as newAssistantBody } from './bodies.js'
import { scratchPostgres, type ScratchPostgres } from './scratch-postgres.js'
import { secrets } from './secrets.js'
import type { Teardown } from './teardown.js'

export interface TestService {
  url: string
  urls: Urls
  postgres: ScratchPostgres
  store: ServedLog
  parts: Connections
  config: CompleteConfig
  token (user: string, role?: string): Promise<string>
  /** Sends JSON as `user` ('1' when not given) and reads the JSON answer. */
  call (method: string, path: string, body?: unknown, options?: { user?: string, headers?: Record<string, string> }): Promise<Answer>
  /** Starts further roles on the same back ends; they end with the test. */
  start (roles: Role[], environment?: Record<string, string>): Promise<{ url: string, stop (): Promise<void> }>
}

/** Starts it with the example catalogue imported; `environment` overrides settings. A Postgres that is given has been set up. */
export async function testService (t: Teardown, roles: Role[] = ['api', 'projector'], environment: Record<string, string> = {}, given?: ScratchPostgres): Promise<TestService> {
  const postgres = given ?? await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl: postgres.url })
  t.teardown(store.close)
  const urls = { databaseUrl: postgres.url, eventStoreUrl: store.url }
  const log = pino({ level: process.env.LOG_LEVEL ?? 'fatal' })
  const parts = await openConnections(urls, log)
  t.teardown(() => parts.close())
  const config = configOf(environment)
  const start = async (wanted: Role[], overrides: Record<string, string> = {}) => {
    const running = await startRoles(wanted, configOf({ ...environment, ...overrides }), withRedis({ ...environment, ...overrides }), log)
    let stopped: Promise<void> | undefined
    const stop = () => stopped ??= running.stop()
    t.teardown(stop)
    return { url: running.url, stop }
  }
  const withRedis = ({ REDIS_URL: redisUrl }: Record<string, string>): Urls => ({ ...urls, redisUrl })
  const { url } = await start(roles)
  const token = (user: string, role?: string) => signToken(config.jwt, { user, ttl: '1h', ...(role && { role }) })

  async function call (method: string, path: string, body?: unknown, { user = '1', headers = {} }: { user?: string, headers?: Record<string, string> } = {}): Promise<Answer> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${await token(user)}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
  }

  return { url, urls, postgres, store, parts, config, token, call, start }
}

/** The settings of a test; `environment` overrides them. */
export function configOf (environment: Record<string, string>): CompleteConfig {
  const config = loadConfig({ ...secrets, PORT: '0', RATE_LIMIT_PER_MINUTE: '0', ...environment })
  if (!config.jwt) throw new Error('the tests set a JWT secret')
  return { ...config, jwt: config.jwt, secrets: { secretKey: secrets.SECRET_KEY, leadDigestKey: secrets.LEAD_DIGEST_KEY } }
}

/** A body that creates an assistant with the example catalogue. */
export const newAssistant = newAssistantBody()
