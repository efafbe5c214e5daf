// Holds the back ends of a test run: one Postgres with template databases, and event stores on its databases.
import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { json } from 'node:stream/consumers'
import pg from 'pg'
import { startEventStore, type RunningEventStore } from '@ringledger/embedded-event-store'
import type { Template } from './back-ends.js'
import { clusterData, freePort, madeDataVariable, postgresCluster } from '@ringledger/embedded-postgres/testing'

/** The data need not survive a crash, and a vacuum would keep templates in use. */
const settings = {
  max_connections: 500,
  shared_buffers: '128MB',
  autovacuum: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_wal_size: '8GB',
  checkpoint_timeout: '1h'
}

const undo: Array<() => unknown> = []
const atEnd = { teardown: (step: () => unknown) => { undo.unshift(step) } }
const data = process.env[madeDataVariable] = await clusterData(atEnd)
const { url: clusterUrl } = await postgresCluster(atEnd, { fsync: false, settings })
const admin = new pg.Pool({ connectionString: clusterUrl, max: 4 })
undo.unshift(() => admin.end())
const logs = new Map<number, RunningEventStore>()
const templates = new Map<Template, Promise<string>>([['empty', Promise.resolve('template0')]])
let started: Promise<string> | undefined
let made = 0

const routes: Record<string, (body: Record<string, string>) => Promise<object>> = {
  '/databases': async ({ template }) => ({ url: await copyOf(await templateOf(template as Template)) }),
  '/databases/drop': async ({ url = '' }) => {
    await admin.query(`DROP DATABASE IF EXISTS ${nameIn(url)} WITH (FORCE)`)
    return {}
  },
  '/data-dirs': async () => {
    started ??= import('../ringledger.js').then(({ makeStartedDataDir }) => makeStartedDataDir(atEnd))
    return { folder: await started }
  },
  '/logs': async ({ databaseUrl = '', port, schema }) => {
    const at = port === undefined ? await freePort() : Number(port)
    const log = await startEventStore({ databaseUrl, port: at, ...(schema !== undefined && { schema }) })
    logs.set(log.port, log)
    return { url: log.url, port: log.port }
  },
  '/logs/close': async ({ port }) => {
    const log = logs.get(Number(port))
    logs.delete(Number(port))
    await log?.close()
    return {}
  }
}

/** Without a keep-alive timeout, which could hit while a test sends its next request. */
const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
  answer(request).then(
    (body) => response.end(JSON.stringify(body)),
    (error: unknown) =>
      response.writeHead(500).end(JSON.stringify({ error: error instanceof Error ? error.message : String(error) })))
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const address = server.address()
process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''} ${clusterUrl} ${data}\n`)
process.stdin.resume().on('close', () => { void stop() })

async function answer (request: IncomingMessage): Promise<object> {
  const route = routes[request.url ?? '']
  if (!route) throw new Error(`there is no ${request.url}`)
  return await route(await json(request) as Record<string, string>)
}

async function stop (): Promise<void> {
  server.close()
  server.closeAllConnections()
  await Promise.allSettled([...logs.values()].map((log) => log.close()))
  for (const step of undo) await step()
  process.exit()
}

function templateOf (template: Template): Promise<string> {
  const made = templates.get(template) ?? makeTemplate(template)
  templates.set(template, made)
  return made
}

async function makeTemplate (template: Template): Promise<string> {
  const url = await copyOf('template0')
  const { migrateLedger, setUpService } = await import('./database-templates.js')
  await (template === 'migrated' ? migrateLedger(url) : setUpService(url))
  return nameIn(url)
}

async function copyOf (template: string): Promise<string> {
  const name = `scratch_${++made}`
  await admin.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`)
  return Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).href
}

function nameIn (url: string): string {
  return new URL(url).pathname.slice(1)
}
