// Locks a directory: one process holds it at a time, in whatever container. A killed process holds nothing. The starter
// locks DATA_DIR; while Postgres runs, the supervisor locks the directory around the cluster.
import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { errorCode, makeJsonObject, readJsonObject } from './data-dir.js'

export type Role = 'start' | 'command'

interface Holder extends ProcessIdentity {
  role: Role
  command: string
  since: string
  /** Name of its socket in the directory; absent when the file system supports no sockets. */
  socket?: string
  /** It runs where its pid means nothing to us, such as in another container. */
  isElsewhere: boolean
}

/** Content of a lock file. */
type HolderNote = Omit<Holder, 'isElsewhere'>

export interface Lock {
  /** Increases with every holder of this directory. */
  number: number
  release(): void
}

/** The lock, or the live process that holds it and its number. */
type Acquired = { lock: Lock, heldBy?: undefined } | { lock?: undefined, heldBy: Holder, number: number }

/**
 * Acquires the lock, or returns which process holds it. Never waits.
 *
 * Each holder links a file `lock.<n>`, with a number one above the highest that exists; the highest counts. Linking
 * fails when the name exists, so one of several processes wins. The highest file is never deleted, only emptied:
 * otherwise a slow process could win with a number that others have already used. A holder is alive while its socket
 * answers. Both may be used by every account that can enter DATA_DIR, since root may hold what is somebody else's.
 */
export async function acquireLock (dataDir: string, role: Role, command: string): Promise<Acquired> {
  const { heldBy, number } = await liveHolder(dataDir)
  if (heldBy !== undefined) return { heldBy, number }
  const socket = `lock-${randomUUID()}.sock`
  const presence = await showPresence(dataDir, socket)
  const acquired = await compete(dataDir, {
    ...identify(process.pid) ?? { pid: process.pid, started: '' }, role, command, since: new Date().toISOString(), ...(presence && { socket })
  }).catch((error: unknown) => ({ error }))
  if (typeof acquired === 'number') return { lock: heldLock(dataDir, acquired, presence) }
  presence?.end()
  if ('error' in acquired) throw acquired.error
  return acquired
}

/** Returns the number when this process wins, else the winner. */
async function compete (dataDir: string, own: HolderNote): Promise<number | { heldBy: Holder, number: number }> {
  for (;;) {
    const { heldBy, number } = await liveHolder(dataDir)
    if (heldBy !== undefined) return { heldBy, number }
    if (linkLock(dataDir, number + 1, own)) return number + 1
  }
}

/** The highest number and the live process that holds it. Changes nothing. */
export async function liveHolder (dataDir: string): Promise<{ heldBy: Holder | undefined, number: number }> {
  const number = latestNumber(dataDir)
  const holder = readHolder(lockPath(dataDir, number))
  if (holder === undefined) return { heldBy: undefined, number }
  const isHere = identify(holder.pid)?.started === holder.started
  const lives = holder.socket === undefined ? isHere : await isPresent(dataDir, holder.socket)
  return { heldBy: lives ? { ...holder, isElsewhere: !isHere } : undefined, number }
}

function heldLock (dataDir: string, number: number, presence: Awaited<ReturnType<typeof showPresence>>): Lock {
  return {
    number,
    release () {
      try {
        writeFileSync(lockPath(dataDir, number), '', { mode: 0o600 })
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error // ENOENT: the directory was deleted, and the lock with it
      } finally {
        presence?.end()
      }
    }
  }
}

/** Whether the caller now has this number: no other process linked it, and none has a higher one. */
function linkLock (dataDir: string, number: number, holder: HolderNote): boolean {
  try {
    makeJsonObject(lockPath(dataDir, number), holder, 0o644)
  } catch (error) {
    // ENOENT: the winner of a race has already removed our draft.
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') return false
    throw error
  }
  const isHighest = latestNumber(dataDir) === number
  if (isHighest) removeOlder(dataDir, number)
  else rmSync(lockPath(dataDir, number), { force: true })
  return isHighest
}

const lockPath = (dataDir: string, number: number) => join(dataDir, `lock.${number}`)

function latestNumber (dataDir: string): number {
  const numbers = readdirSync(dataDir).map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...numbers)
}

function removeOlder (dataDir: string, number: number): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith('lock.') || name === `lock.${number}`) continue
    // A draft may belong to a live process, so its socket stays.
    const { socket } = /^lock\.\d+$/.test(name) ? readHolder(join(dataDir, name)) ?? {} : {}
    if (socket !== undefined) rmSync(join(dataDir, socket), { force: true })
    rmSync(join(dataDir, name), { force: true })
  }
}

/** Undefined when the lock is free, or its file is invalid. */
function readHolder (path: string): HolderNote | undefined {
  const { pid, started, role, command, since, socket } = readJsonObject(path) ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string') return undefined
  return {
    pid,
    started,
    role: role === 'start' ? 'start' : 'command',
    command: String(command),
    since: String(since),
    ...(typeof socket === 'string' && { socket: basename(socket) })
  }
}

/** Another process holds this DATA_DIR. The message names both and says what to do. */
export class DataDirInUseError extends Error {
  constructor (dataDir: string, holder: Holder) {
    const [place, stop] = holder.isElsewhere
      ? ['in another container', 'stop that container']
      : [`pid ${holder.pid}`, `stop it (kill ${holder.pid})`]
    super(`DATA_DIR ${dataDir} is in use by \`${holder.command}\` (${place}, since ${holder.since}). ` +
      `Wait for it to end or ${stop}, or set DATA_DIR to another directory.`)
    this.name = 'DataDirInUseError'
  }
}

/** The file system supports no sockets, or the path is too long. Then only pids can tell. */
const cannotHold = ['EINVAL', 'ENAMETOOLONG', 'ENOTSUP', 'EOPNOTSUPP', 'EPERM', 'ENOSYS']

/**
 * A socket in the directory answers exactly as long as its process lives, even for processes in another container,
 * which see the directory but not the pid. Undefined when the directory supports no sockets.
 */
async function showPresence (directory: string, name: string) {
  if (process.platform === 'win32') return undefined
  const server = createServer((socket) => socket.destroy()).unref()
  try {
    await withPath(directory, name, async (path) => { await once(server.listen(path), 'listening') })
    chmodSync(join(directory, name), 0o666)
  } catch (error) {
    if (cannotHold.includes(errorCode(error))) return undefined
    throw error
  }
  return {
    /** Removes the socket; the process may live on. */
    end () {
      server.close()
      rmSync(join(directory, name), { force: true })
    }
  }
}

/** Whether the process that owns this socket is alive. */
async function isPresent (directory: string, name: string): Promise<boolean> {
  return await withPath(directory, name, (path) => new Promise((resolve) => {
    const socket = connect(path)
    const tell = (is: boolean) => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => tell(true))
    // Only these prove that nobody is there; a full backlog or another user's socket does not.
    socket.once('error', (error) => tell(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK'].includes(errorCode(error))))
  }))
}

/** A socket's path is limited to about a hundred bytes. Through its directory's handle it is always short. */
async function withPath<T> (directory: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') return await use(join(directory, name))
  const handle = openSync(directory, 'r')
  try {
    return await use(`/proc/self/fd/${handle}/${name}`)
  } finally {
    closeSync(handle)
  }
}

/**
 * Identifies a process even after its pid was reused or the machine restarted. `started` is opaque, comparable on one
 * machine, and empty if unknown.
 */
interface ProcessIdentity {
  pid: number
  started: string
}

/** The identity of the live process with this pid; undefined for none and for a zombie. */
export function identify (pid: number): ProcessIdentity | undefined {
  if (process.platform === 'win32') return isSignalable(pid) ? { pid, started: '' } : undefined
  const started = process.platform === 'linux' ? startOnLinux(pid) : startFromPs(pid)
  return started === undefined ? undefined : { pid, started }
}

// The start time is in ticks since boot, so it needs the id of the boot.
function startOnLinux (pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

function startFromPs (pid: number): string | undefined {
  const line = fromPs('stat=,lstart=', pid)
  return line === '' || line.startsWith('Z') ? undefined : line.slice(line.indexOf(' ')).trim()
}

/** What `ps` says of a process; empty when there is none. */
export function fromPs (format: string, pid: number): string {
  try {
    const args = ['-o', format, '-p', String(pid)]
    return execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return ''
  }
}

function isSignalable (pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
