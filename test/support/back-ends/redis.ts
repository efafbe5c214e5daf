// A Redis of a test's own, on a free port of loopback.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '@ringledger/embedded-postgres/testing'
import { eventually } from '../eventually.js'
import { onPath } from '../ringledger.js'
import type { Teardown } from '../teardown.js'
import type { Test } from 'tap'

/** Why there is no Redis here, or false. With REQUIRE_REDIS=1 that is an error. */
export function noRedis (): string | false {
  if (onPath('redis-server')) return false
  if (process.env.REQUIRE_REDIS === '1') throw new Error('REQUIRE_REDIS=1, and redis-server is not on the PATH')
  return 'redis-server is not on the PATH'
}

export type ScratchRedis = Awaited<ReturnType<typeof scratchRedis>>

/** @param isKept whether it writes everything to its files, as a production one may */
export async function scratchRedis (t: Teardown, isKept = false) {
  const home = mkdtempSync(join(tmpdir(), 'rl-redis-'))
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  const keeping = ['--save', '', '--appendonly', isKept ? 'yes' : 'no']
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', home, ...keeping]
  let server: ChildProcess | undefined
  const redis = {
    url,
    async start () {
      server = spawn('redis-server', settings, { stdio: 'ignore' })
      await eventually(() => withClient(url, (client) => client.ping()))
    },
    /** kill -9: without persistence everything is gone. `start` brings it back, empty, on the same port. */
    async kill () {
      if (!server || server.exitCode !== null || server.signalCode !== null) return
      const exited = once(server, 'exit')
      server.kill('SIGKILL')
      await exited
    },
    flush: async () => { await withClient(url, (client) => client.flushall()) },
    keys: (pattern: string) => withClient(url, (client) => client.keys(pattern)),
    /** Its files, after it has written everything; none if it keeps nothing. */
    async files () {
      if (isKept) await withClient(url, (client) => client.save())
      const found = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      return found.map(({ parentPath, name }) => readFileSync(join(parentPath, name)))
    }
  }
  t.teardown(async () => {
    await redis.kill()
    rmSync(home, { recursive: true, force: true })
  })
  await redis.start()
  return redis
}

async function withClient<Result> (url: string, work: (client: Redis) => Promise<Result>): Promise<Result> {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 })
  client.on('error', () => {})
  try {
    return await work(client)
  } finally {
    client.disconnect()
  }
}

/** By their titles. */
export type Rules = Record<string, (t: Test, redis: ScratchRedis | undefined) => Promise<void>>

/** Tries all rules on Postgres, and the first two on Redis; RACES=all tries all on both. */
export function onEachQueue (t: Test, rules: Rules): void {
  const all = Object.entries(rules)
  const tryThem = async (t: Test, some: typeof all, redis?: ScratchRedis) => {
    for (const [title, rule] of some) await t.test(title, async (t) => await rule(t, redis))
  }
  t.test('on Postgres', async (t) => await tryThem(t, all))
  t.test('on Redis', { skip: noRedis() }, async (t) =>
    await tryThem(t, process.env.RACES === 'all' ? all : all.slice(0, 2), await scratchRedis(t)))
}
