// The lock of a directory: one process holds it at a time, in whatever container. A killed process holds nothing.
// The starter holds DATA_DIR, and the supervisor the directory around the cluster, for as long as Postgres runs.
import { linkSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import { errorCode, readJsonObject } from './json-file.js'
import { isPresent, type Presence, showPresence } from './presence.js'
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js'

export type Role = 'start' | 'command'

export interface Holder extends ProcessIdentity {
  role: Role
  command: string
  since: string
  /** The name of its socket in the directory; none where that holds no sockets. */
  socket?: string
  /** It lives where its pid means nothing here, such as in another container. */
  isElsewhere: boolean
}

/** What the file of a lock says. */
type HolderNote = Omit<Holder, 'isElsewhere'>

export interface Lock {
  /** Rises with every holder of this directory. */
  number: number
  /** The next process may have the directory. */
  release(): void
}

/** The lock, or the number of the lock of another process, which lives. */
export type Acquired = { lock: Lock, heldBy?: undefined } | { lock?: undefined, heldBy: Holder, number: number }

/**
 * Acquires the lock, or answers which process holds it. Never waits for that.
 *
 * Each holder links a file `lock.<n>`, with a number one above the highest that is there; the highest counts. Linking
 * fails when the name exists, so one of several processes wins. The highest file is never deleted, only emptied: a slow
 * process cannot win with a number that others have used before. The holder lives while its socket answers.
 */
export async function acquireLock (dataDir: string, role: Role, command: string): Promise<Acquired> {
  const { heldBy, number } = await liveHolder(dataDir)
  if (heldBy !== undefined) return { heldBy, number }
  const socket = `lock-${randomUUID()}.sock`
  const presence = await showPresence(dataDir, socket)
  const acquired = await compete(dataDir, {
    ...ownIdentity(), role, command, since: new Date().toISOString(), ...(presence && { socket })
  }).catch((error: unknown) => ({ error }))
  if (typeof acquired === 'number') return { lock: heldLock(dataDir, acquired, presence) }
  presence?.end()
  if ('error' in acquired) throw acquired.error
  return acquired
}

/** The number of the lock when this holder gets it, else the one that does. */
async function compete (dataDir: string, own: HolderNote): Promise<number | { heldBy: Holder, number: number }> {
  for (;;) {
    const { heldBy, number } = await liveHolder(dataDir)
    if (heldBy !== undefined) return { heldBy, number }
    if (linkLock(dataDir, number + 1, own)) return number + 1
  }
}

/** Of the highest number, and which live process has it. Changes nothing. */
export async function liveHolder (dataDir: string): Promise<{ heldBy: Holder | undefined, number: number }> {
  const number = latestNumber(dataDir)
  const holder = readHolder(lockPath(dataDir, number))
  if (holder === undefined) return { heldBy: undefined, number }
  const isHere = isAlive(holder)
  const lives = holder.socket === undefined ? isHere : await isPresent(dataDir, holder.socket)
  return { heldBy: lives ? { ...holder, isElsewhere: !isHere } : undefined, number }
}

function heldLock (dataDir: string, number: number, presence: Presence | undefined): Lock {
  return {
    number,
    release () {
      try {
        writeFileSync(lockPath(dataDir, number), '', { mode: 0o600 })
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error // the directory was deleted, and the lock with it
      } finally {
        presence?.end()
      }
    }
  }
}

/** Whether the lock of this number is the caller's now: no other process linked it, and none has a higher one. */
function linkLock (dataDir: string, number: number, holder: HolderNote): boolean {
  const draft = join(dataDir, `lock.draft-${randomUUID()}`)
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  try {
    linkSync(draft, lockPath(dataDir, number))
    if (latestNumber(dataDir) === number) {
      removeOlder(dataDir, number)
      return true
    }
    rmSync(lockPath(dataDir, number), { force: true })
    return false
  } catch (error) {
    // ENOENT: the winner of a race has already removed our draft.
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function lockPath (dataDir: string, number: number): string {
  return join(dataDir, `lock.${number}`)
}

function latestNumber (dataDir: string): number {
  const numbers = readdirSync(dataDir).map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...numbers)
}

function removeOlder (dataDir: string, number: number): void {
  for (const name of readdirSync(dataDir)) {
    if (!name.startsWith('lock.') || name === `lock.${number}`) continue
    // A draft is that of a process that lives.
    const { socket } = /^lock\.\d+$/.test(name) ? readHolder(join(dataDir, name)) ?? {} : {}
    if (socket !== undefined) rmSync(join(dataDir, socket), { force: true })
    rmSync(join(dataDir, name), { force: true })
  }
}

/** Undefined when the lock is free, or its file says nothing of use. */
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
