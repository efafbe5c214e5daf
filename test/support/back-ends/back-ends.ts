// The back ends of the run: one process holds them for all test files, or for this one when it runs alone.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ScratchPostgres, sessionsOf } from '@ringledger/embedded-postgres/testing'
import type { Teardown } from '../teardown.js'

/** A new database is empty, has the migrated ledger, or has a service with the example catalogue and its log. */
export type Template = 'empty' | 'migrated' | 'service'

/** Where the holder of the run listens; the runner sets it. */
export const holderVariable = 'RINGLEDGER_TEST_BACK_ENDS'

export interface Holder {
  url: string
  /** URL of its Postgres; the user may create databases. */
  postgresUrl: string
  /** The data of an empty cluster, to be copied. */
  clusterData: string
  /** Ends the back ends; they also end when this process does, however it ends. */
  stop (): Promise<void>
}

/** Starts a holder, which does not keep this process running. */
export async function startHolder (): Promise<Holder> {
  const main = fileURLToPath(new URL('./back-ends-main.js', import.meta.url))
  // Without the test runner's environment, and in a process group that Ctrl-C does not reach.
  const variables = ['PATH', 'TMPDIR', 'RINGLEDGER_CI_RUN'].map((name) => `${name}=${process.env[name] ?? ''}`)
  const kept = variables.filter((variable) => !variable.endsWith('='))
  const child = spawn('env', ['-i', ...kept, process.execPath, '--single-threaded-gc', main], {
    stdio: ['pipe', 'pipe', 'inherit'], detached: true
  })
  child.stdin.on('error', () => {}) // it ended first
  const ended = once(child, 'exit')
  const early = ended.then(([code, signal]) => {
    throw new Error(`The holder of the back ends ended with ${signal ?? code}`)
  })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), early]) as [string]
  const [url = '', postgresUrl = '', clusterData = ''] = line.split(' ')
  early.catch(() => {})
  for (const part of [child, child.stdin, child.stdout]) if (part === child || part instanceof Socket) part.unref()
  return {
    url,
    postgresUrl,
    clusterData,
    async stop () {
      child.ref()
      child.stdin.end()
      await ended
    }
  }
}

let holder: Promise<string> | undefined

async function ask<Answer> (path: string, body: object): Promise<Answer> {
  holder ??= process.env[holderVariable]
    ? Promise.resolve(process.env[holderVariable])
    : startHolder().then(({ url }) => url)
  const response = await fetch(`${await holder}${path}`, { method: 'POST', body: JSON.stringify(body) })
  const answer = await response.json() as Answer & { error?: string }
  if (!response.ok) throw new Error(answer.error)
  return answer
}

async function newDatabase (template: Template): Promise<{ url: string, drop (): Promise<void> }> {
  const { url } = await ask<{ url: string }>('/databases', { template })
  let dropped: Promise<void> | undefined
  return { url, drop: () => dropped ??= ask('/databases/drop', { url }) }
}

/** A DATA_DIR on which `start` has run once. Copy it, and never change it. */
export async function startedOnce (): Promise<string> {
  return (await ask<{ folder: string }>('/data-dirs', {})).folder
}

export interface ServedLog {
  /** `esdb://127.0.0.1:PORT?tls=false` */
  url: string
  port: number
  close (): Promise<void>
}

/** An event store on a schema of a database, of the run or another one, on the port given or any. */
export async function serveLog (
  request: { databaseUrl: string, port?: number | undefined, schema?: string | undefined }
): Promise<ServedLog> {
  const { url, port } = await ask<{ url: string, port: number }>('/logs', request)
  let closed: Promise<void> | undefined
  return { url, port, close: () => closed ??= ask('/logs/close', { port }) }
}

export type { ScratchPostgres } from '@ringledger/embedded-postgres/testing'

/** A copy of a template, in milliseconds. To kill or restart Postgres, use `postgresCluster`. */
export async function scratchPostgres (t: Teardown, template: Template = 'empty'): Promise<ScratchPostgres> {
  const { url, drop } = await newDatabase(template)
  t.teardown(drop)
  return { url, close: drop, children: (application) => sessionsOf(url, application) }
}
