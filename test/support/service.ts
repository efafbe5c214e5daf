// The service inside a test's process: the roles that it wants, on a database and a log of its own.
import type { EventStoreDBClient } from '@eventstore/db-client'
import { connect } from '@ringledger/embedded-event-store/testing'
import type { Role } from '../../src/services/services.js'
import { startRoles } from '../../src/services/roles.js'
import type { CompleteConfig } from '../../src/services/complete-config.js'
import { openConnections, type Connections, type Urls } from '../../src/services/connections.js'
import { loadConfig } from '../../src/config.js'
import { signToken } from '../../src/cli/token.js'
import type { Answer } from './http/answer.js'
import { readLog } from './run/leaks.js'
import { serveLog, type ServedLog } from './back-ends/back-ends.js'
import { newAssistant as newAssistantBody } from './bodies/bodies.js'
import { caller } from './running-service.js'
import { scratchPostgres, type ScratchPostgres } from './back-ends/scratch-postgres.js'
import { secrets } from './auth/secrets.js'
import type { Teardown } from './teardown.js'

export interface TestService {
  url: string
  urls: Urls
  postgres: ScratchPostgres
  store: ServedLog
  client: EventStoreDBClient
  parts: Connections
  config: CompleteConfig
  token (user: string, role?: string): Promise<string>
  /** Sends JSON as `user` ('1' when not given) and reads the JSON answer. */
  call (
    method: string, path: string, body?: unknown, options?: { user?: string, headers?: Record<string, string> }
  ): Promise<Answer>
  /** Texts that the test makes up: it fails when they stand in the log of the service from now on. */
  neverLogs (...texts: string[]): void
  /** Starts further roles on the same back ends; they end with the test. */
  start (roles: Role[], environment?: Record<string, string>): Promise<{ url: string, stop (): Promise<unknown> }>
}

/** With the example catalogue; `environment` overrides settings. A Postgres that is given has been set up. */
export async function testService (
  t: Teardown, roles: Role[] = ['api', 'projector'], environment: Record<string, string> = {}, given?: ScratchPostgres
): Promise<TestService> {
  const postgres = given ?? await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl: postgres.url })
  t.teardown(store.close)
  const urls = { databaseUrl: postgres.url, eventStoreUrl: store.url }
  const madeUp: string[] = []
  const log = readLog(t, madeUp)
  const config = configOf(environment)
  const parts = await openConnections(urls, config, log)
  t.teardown(() => parts.close())
  const start = async (wanted: Role[], overrides: Record<string, string> = {}) => {
    const settings = { ...environment, ...overrides }
    const on: Urls = { ...urls, redisUrl: settings.REDIS_URL }
    const running = await startRoles(wanted, configOf(settings), on, log)
    let stopped: Promise<unknown> | undefined
    const stop = () => stopped ??= running.stop()
    t.teardown(stop)
    return { url: running.url, stop }
  }
  const { url } = await start(roles)
  const token = (user: string, role?: string) => signToken(config.jwt, { user, ttl: '1h', ...(role && { role }) })
  const send = caller(url)
  const tokens = new Map<string, Promise<string>>() // to sign one takes as long as many a request
  const call: TestService['call'] = async (method, path, body, { user = '1', headers } = {}) => {
    const known = tokens.get(user) ?? token(user)
    tokens.set(user, known)
    return await send(method, path, { token: await known, body, headers })
  }
  const neverLogs = (...texts: string[]) => { madeUp.push(...texts) }
  return { url, urls, postgres, store, client: connect(t, store.url), parts, config, token, call, neverLogs, start }
}

/** The settings of a test; `environment` overrides them. */
export function configOf (environment: Record<string, string>): CompleteConfig {
  const config = loadConfig({ ...secrets, PORT: '0', RATE_LIMIT_PER_MINUTE: '0', ...environment })
  if (!config.jwt) throw new Error('the tests set a JWT secret')
  return {
    ...config,
    jwt: config.jwt,
    secrets: { secretKey: environment.SECRET_KEY ?? secrets.SECRET_KEY, leadDigestKey: secrets.LEAD_DIGEST_KEY }
  }
}

/** A body that creates an assistant with the example catalogue. */
export const newAssistant = newAssistantBody()
