// A service with a separate database and log, so that a test can restore an older state of only one of them.
import pino from 'pino'
import pg from 'pg'
import type { Role } from '../../src/services/services.js'
import { startRoles, type Service } from '../../src/services/roles.js'
import { openConnections, type Connections, type Urls } from '../../src/services/connections.js'
import { signToken } from '../../src/cli/token.js'
import { callReport, newAssistant, newLead } from './bodies/bodies.js'
import { eventually } from './eventually.js'
import { caller, localWebhooks, type Answer } from './running-service.js'
import { serveLog, scratchPostgres, type ScratchPostgres } from './back-ends/back-ends.js'
import { configOf } from './service.js'
import type { Teardown } from './teardown.js'
import { keySettings, secrets } from './auth/secrets.js'

interface Asserts { equal (found: unknown, wanted: unknown): unknown }

export type Restorable = Awaited<ReturnType<typeof restorable>>
export type Running = Awaited<ReturnType<typeof start>>

/** With the example catalogue in the log. */
export async function restorable (t: Teardown) {
  const [postgres, now, log] =
    await Promise.all([scratchPostgres(t), scratchPostgres(t, 'service'), scratchPostgres(t, 'service')])
  const [nowName, logName] = [nameOf(now), nameOf(log)]
  const sql = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  const copy = (from: string, to: string) =>
    sql(`DROP DATABASE IF EXISTS ${to} WITH (FORCE)`, `CREATE DATABASE ${to} TEMPLATE ${from} STRATEGY file_copy`)
  let store = await serveLog({ databaseUrl: log.url })
  t.teardown(() => store.close())
  const urls = { databaseUrl: now.url, get eventStoreUrl () { return store.url } }
  const whileStoreIsDown = async (work: () => Promise<void>) => {
    await store.close()
    await work()
    store = await serveLog({ databaseUrl: log.url, port: store.port }) // roles that run find it again
  }

  return {
    postgres,
    urls,
    get env () { return { ...secrets, DATABASE_URL: urls.databaseUrl, EVENTSTORE_URL: urls.eventStoreUrl } },
    start: (roles: Role[] = ['api', 'projector', 'worker']) => start(t, urls, roles),
    /** Copies the database as it is, file by file; nobody may be connected. */
    backUp: () => copy(nowName, `${nowName}_backup`),
    restore: () => copy(`${nowName}_backup`, nowName),
    lose: () => sql(`DROP DATABASE ${nowName} WITH (FORCE)`, `CREATE DATABASE ${nowName}`),
    /** The same for the log, while the event store is stopped. */
    backUpLog: () => whileStoreIsDown(() => copy(logName, `${logName}_backup`)),
    restoreLog: () => whileStoreIsDown(() => copy(`${logName}_backup`, logName)),
    /** Opens connections to the back ends for `work`. */
    async withParts<Result> (work: (parts: Connections) => Promise<Result>): Promise<Result> {
      const parts = await openConnections(urls, keySettings, pino({ level: 'silent' }))
      return await work(parts).finally(() => parts.close())
    }
  }
}

const nameOf = ({ url }: ScratchPostgres) => new URL(url).pathname.slice(1)

/** Roles of one process on a database and a log. */
async function start (t: Teardown, urls: Urls, roles: Role[]) {
  const config = configOf(localWebhooks)
  const logged: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => { logged.push(line) } })
  const service: Service = await startRoles(roles, config, urls, log)
  let stopped: Promise<unknown> | undefined
  const stop = () => stopped ??= service.stop()
  t.teardown(stop)
  const call = caller(service.url)
  const as = async (user: string, role?: string) =>
    ({ token: await signToken(config.jwt, { user, ttl: '1h', ...(role && { role }) }) })
  return {
    url: service.url,
    stop,
    /** Lines of level `warn` and above. */
    logged,
    createAssistant: async (url: string) => await call('POST', '/user/assistant', {
      ...await as('1'), body: newAssistant({ is_webhook_active: true, webhook_url: url })
    }),
    createLead: async () =>
      await call('POST', '/user/lead', { ...await as('1'), body: newLead({ allow_dupplicate: true }) }),
    completeCall: async (callId: string, id: number) => await call('POST', `/engine/calls/${callId}/completed`, {
      ...await as('engine', 'engine'), body: callReport(id)
    }),
    updateAssistant: async (id: number, body: object) => await call('PUT', `/user/assistant/${id}`, { ...await as('1'), body }),
    get: async (path: string, headers?: Record<string, string>) => await call('GET', path, { ...await as('1'), ...(headers && { headers }) }),
    ready: async () => await call('GET', '/health/ready', await as('operator', 'ops'))
  }
}

export const created = (answer: Answer) => answer.status === 201 && answer
export const idOf = ({ body }: Answer) => body.data?.id ?? 0

/** Once the read models have caught up. */
export async function readsGoOn (t: Asserts, { get }: Running, assistant: number): Promise<void> {
  await eventually(async () => (await get(`/user/assistant/${assistant}`)).status === 200)
  t.equal((await get('/user/assistants')).status, 200)
}

/** Status and reason by call. */
export async function deliveries (r: Restorable): Promise<Record<string, unknown[]>> {
  return await r.withParts(async ({ pool }) => {
    const { rows } = await pool.query<{ call_id: string, status: string, reason: string | null }>(`
      SELECT call_id, status, reason FROM ledger.webhook_deliveries ORDER BY created_at`)
    return Object.fromEntries(rows.map(({ call_id: call, status, reason }) => [call, [status, reason]]))
  })
}
