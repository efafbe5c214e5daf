// A Redis of a test's own, on a free port of loopback.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { existsSync } from 'node:fs'
import { Redis } from 'ioredis'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { eventually } from './eventually.js'
import type { Teardown } from './teardown.js'

export interface ScratchRedis {
  url: string
  /** kill -9: without persistence everything is gone. `start` brings it back, empty, on the same port. */
  kill (): Promise<void>
  start (): Promise<void>
  flush (): Promise<void>
  keys (pattern: string): Promise<string[]>
}

/** Why there is no Redis here, or false. With REQUIRE_REDIS=1 that is an error. */
export function noRedis (): string | false {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'redis-server')))
  if (isThere) return false
  if (process.env.REQUIRE_REDIS === '1') throw new Error('REQUIRE_REDIS=1, and redis-server is not on the PATH')
  return 'redis-server is not on the PATH'
}

export async function scratchRedis (t: Teardown): Promise<ScratchRedis> {
  const home = mkdtempSync(join(tmpdir(), 'rl-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let server: ChildProcess | undefined
  const redis: ScratchRedis = { url, start, kill, flush: async () => { await withClient((client) => client.flushall()) }, keys: (pattern) => withClient((client) => client.keys(pattern)) }
  t.teardown(async () => {
    await kill()
    rmSync(home, { recursive: true, force: true })
  })
  await start()
  return redis

  async function start () {
    server = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
    await eventually(() => withClient((client) => client.ping()))
  }

  async function kill () {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill('SIGKILL')
    await exited
  }

  async function withClient<Result> (work: (client: Redis) => Promise<Result>): Promise<Result> {
    const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
    client.on('error', () => {})
    try {
      return await work(client)
    } finally {
      client.disconnect()
    }
  }
}
