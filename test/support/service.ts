// Runs the service inside a test's process: chosen roles, on a database and a log of its own.
import type { EventStoreDBClient } from '@eventstore/db-client'
import { connect } from '@ringledger/embedded-event-store/testing'
import type { Role } from '../../src/services/services.js'
import { startRoles } from '../../src/services/roles.js'
import type { CompleteConfig } from '../../src/services/complete-config.js'
import type { Connections, Urls } from '../../src/services/connections.js'
import { loadConfig } from '../../src/config.js'
import { signToken } from '../../src/cli/token.js'
import { type Answer, caller, type Call } from './running-service.js'
import { readLog } from './run/leaks.js'
import { serveLog, type ServedLog, scratchPostgres, type ScratchPostgres } from './back-ends/back-ends.js'
import { newAssistant as newAssistantBody } from './bodies/bodies.js'
import { secrets } from './auth/secrets.js'
import type { Teardown } from './teardown.js'
import { dataDir, ringledger, type Environment, listeningUrl } from './ringledger.js'
import type { Test } from 'tap'
import { eventually } from './eventually.js'
import { tcpProxy } from './back-ends/tcp-proxy.js'

export interface TestService {
  url: string
  urls: Urls
  postgres: ScratchPostgres
  store: ServedLog
  client: EventStoreDBClient
  /** What its first roles work on. */
  parts: Connections
  config: CompleteConfig
  token (user: string, role?: string): Promise<string>
  /** Sends JSON as `user` (default '1'; `engine` gets the role of the engine) and reads the JSON answer. */
  call (
    method: string, path: string, body?: unknown, options?: { user?: string, headers?: Record<string, string> }
  ): Promise<Answer>
  /** The test fails if these texts come into the log of the service from now on. */
  neverLogs (...texts: string[]): void
  /** Starts further roles on the same back ends; they end with the test. */
  start (roles: Role[], environment?: Record<string, string>): Promise<{ url: string, stop (): Promise<unknown> }>
}

/** Has the example catalogue; `environment` overrides settings. A `given` Postgres must be set up already. */
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
  const opened: Connections[] = []
  const start = async (wanted: Role[], overrides: Record<string, string> = {}) => {
    const settings: Record<string, string> = { ...wanted.includes('projector') && onBusyMachine, ...environment, ...overrides }
    const on: Urls = { ...urls, redisUrl: settings.REDIS_URL }
    const running = await startRoles(wanted, configOf(settings), on, log, async (parts) => { opened.push(parts) })
    let stopped: Promise<unknown> | undefined
    const stop = () => stopped ??= running.stop()
    t.teardown(stop)
    return { url: running.url, stop }
  }
  const { url } = await start(roles)
  const parts = opened[0] as Connections
  const token = (user: string, role?: string) => signToken(config.jwt, { user, ttl: '1h', ...(role && { role }) })
  const send = caller(url)
  const tokens = new Map<string, Promise<string>>() // signing one takes as long as a request
  const call: TestService['call'] = async (method, path, body, { user = '1', headers } = {}) => {
    const known = tokens.get(user) ?? token(user, user === 'engine' ? user : undefined)
    tokens.set(user, known)
    return await send(method, path, { token: await known, body, headers })
  }
  const neverLogs = (...texts: string[]) => { madeUp.push(...texts) }
  return { url, urls, postgres, store, client: connect(t, store.url), parts, config, token, call, neverLogs, start }
}

/** Tests read what they wrote: beside other loads a read model may be further behind than the usual second. */
const onBusyMachine = { READ_MODEL_WAIT_MS: '5000' }

export function configOf (environment: Record<string, string>): CompleteConfig {
  const config = loadConfig({ ...secrets, PORT: '0', RATE_LIMIT_PER_MINUTE: '0', ...environment })
  if (!config.jwt) throw new Error('the tests set a JWT secret')
  return {
    ...config,
    jwt: config.jwt,
    secrets: { secretKey: environment.SECRET_KEY ?? secrets.SECRET_KEY, leadDigestKey: secrets.LEAD_DIGEST_KEY }
  }
}

export const newAssistant = newAssistantBody()

export type ApiProcess = Awaited<ReturnType<typeof apiProcess>>

/** `environment` overrides settings. Calls are from user 1 unless they have another token. */
export async function apiProcess (
  t: Teardown, { urls, token }: TestService, environment: Environment = {}
) {
  const process = ringledger(t, ['api'], {
    ...secrets,
    DATABASE_URL: urls.databaseUrl,
    EVENTSTORE_URL: urls.eventStoreUrl,
    DATA_DIR: dataDir(t),
    PORT: '0',
    RATE_LIMIT_PER_MINUTE: '0',
    LOG_LEVEL: 'error',
    ...environment
  })
  const call = caller(await process.says(listeningUrl))
  const user = await token('1')
  const asUser1: Call = (method, path, request) => call(method, path, { token: user, ...request })
  return {
    call: asUser1,
    process,
    /** kill -9 */
    async kill () {
      process.signal('SIGKILL')
      await process.ended
    }
  }
}

/** Runs roles on the back ends of `direct`, through proxies of their own. */
export async function behindProxies (
  t: Teardown, direct: TestService, roles: Role[] = ['api']
) {
  const postgres = await tcpProxy(t, Number(new URL(direct.urls.databaseUrl).port))
  const store = await tcpProxy(t, direct.store.port)
  const databaseUrl = Object.assign(new URL(direct.urls.databaseUrl), { port: String(postgres.port) }).href
  const eventStoreUrl = `esdb://127.0.0.1:${store.port}?tls=false`
  const { url, stop } = await startRoles(roles, direct.config, { databaseUrl, eventStoreUrl }, readLog(t))
  t.teardown(stop)
  const token = await direct.token('1')
  const call = caller(url)
  const asUser1: Call = (method, path, request) => call(method, path, { token, ...request })
  return { call: asUser1, store, postgres }
}

/** Resolves when an answer has this status and does not wait for the read model. */
export const isBack = (ask: () => Promise<Answer>, status: number) => eventually(async () => {
  const answer = await ask()
  return answer.status === status && !answer.headers.has('x-read-model')
})

/** Each is answered, as back ends have deadlines, that nothing was changed, and when to try again. */
export async function saysAway (t: Test, answers: Array<Promise<Answer>>): Promise<void> {
  const beganAt = performance.now()
  for (const { status, headers, body } of await Promise.all(answers)) {
    t.equal(status, 503)
    t.match(headers.get('retry-after'), /^[1-9]\d*$/)
    t.strictSame(body, { message: 'The service is not available right now. Nothing was changed.' })
  }
  t.ok(performance.now() - beganAt < 60_000)
}
