// A Redis of the bench's own, where `redis-server` is installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { Redis } from 'ioredis'
import { freePort } from '@ringledger/embedded-postgres/testing'

export interface BenchRedis {
  url: string
  pid: number
  close (): Promise<void>
}

/** Whether `redis-server` is on the PATH. */
export const isRedisThere = () =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'redis-server')))

/** On a free port of loopback. It appends to a file in `dir` every second, as production does. */
export async function temporaryRedis (dir: string): Promise<BenchRedis> {
  const port = await freePort()
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir]
  const server = spawn('redis-server', [...where, '--save', '', '--appendonly', 'yes'], { stdio: 'ignore' })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url, { maxRetriesPerRequest: null })
  client.on('error', () => {}) // until it listens
  await client.ping()
  client.disconnect()
  return {
    url,
    pid: server.pid ?? NaN,
    async close () {
      const ended = once(server, 'exit')
      if (server.exitCode === null && server.kill()) await ended
    }
  }
}
