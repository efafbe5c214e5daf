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

/**
 * On a free port of loopback. It appends to a file in `dir` every second, as production does.
 * @returns nothing without `redis-server` on the PATH
 */
export async function temporaryRedis (dir: string): Promise<BenchRedis | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  if (!folders.some((folder) => existsSync(join(folder, 'redis-server')))) return undefined
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
