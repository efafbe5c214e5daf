// Parent process of Postgres: starts it, and stops it when stdin closes. So Postgres ends however its starter ends.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { postgresEnvironment, program } from './binaries.js'
import { acquireLock, DataDirInUseError } from './lock.js'
import type { ServerRequest } from './postgres.js'
import { readPostmaster, stopPostmaster, until } from './postmaster.js'

process.title = `ringledger postgres supervisor ${process.argv[2] ?? ''}`
process.stdout.on('error', () => {}) // the starter is gone, and stdin closes

const closed = new AbortController()
const lines = createInterface(process.stdin)
lines.once('close', () => closed.abort())
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => closed.abort())

// Starts Postgres only after the request: a starter that dies before leaves nothing behind.
lines.once('line', (line) => {
  const request: ServerRequest = JSON.parse(line)
  void supervise(request)
})

async function supervise ({ binaries, cluster, holder, args, uid, gid }: ServerRequest): Promise<void> {
  const home = dirname(cluster)
  const { lock, heldBy } = await acquireLock(home, 'start', holder)
  if (heldBy !== undefined) throw new DataDirInUseError(home, heldBy)
  process.once('exit', () => lock.release())
  if (closed.signal.aborted) process.exit()
  const postgres = spawn(program(binaries, 'postgres'), args, {
    cwd: cluster,
    env: postgresEnvironment(),
    stdio: ['ignore', 'ignore', 'inherit'],
    windowsHide: true,
    ...(uid === undefined ? {} : { uid, gid })
  })
  let hasEnded = false
  postgres.once('error', (error) => {
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  })
  postgres.once('exit', (code) => {
    hasEnded = true
    process.exit(code ?? 1)
  })
  const { pid } = postgres
  if (pid === undefined) return
  const stop = () => void stopPostmaster(pid, () => hasEnded, cluster, binaries)
  closed.signal.addEventListener('abort', stop)
  await until(() => isReady(cluster, pid) || hasEnded, Infinity)
  process.stdout.write(`READY ${pid}\n`)
}

function isReady (cluster: string, pid: number): boolean {
  const postmaster = readPostmaster(cluster)
  return postmaster?.pid === pid && postmaster.status === 'ready'
}
