// A Postgres cluster of a test's own, for tests that kill or restart it: made in about a second, gone with the test.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { account, embedded, makeData, temporaryHome } from './cluster-data.js'
import { freePort } from './free-port.js'
import { answers, watch } from './postmaster.js'
import { sessionsOf, type ScratchPostgres } from './sessions.js'
import type { Teardown } from './teardown.js'

export interface ClusterOptions {
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
  // Of shared memory nothing is left when all of its processes are killed: it is in files below `home`.
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

  /** kill -9 of the postmaster; its children end by themselves. `start` brings it back. */
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
