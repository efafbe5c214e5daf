// The lock of a DATA_DIR: one process holds it at a time. A process that was killed no longer holds it.
import { linkSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { errorCode, readJsonObject } from './json-file.js'
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.js'

export type Role = 'start' | 'command'

export interface Holder extends ProcessIdentity {
  role: Role
  command: string
  since: string
}

export interface Acquired {
  /** Of the lock; rises with every holder of this DATA_DIR. */
  number: number
  /** The live process that holds the directory; undefined: the caller holds it now. */
  heldBy: Holder | undefined
}

/** Another process holds this DATA_DIR. The message names both and says what to do. */
export class DataDirInUseError extends Error {
  constructor (dataDir: string, holder: Holder) {
    super(`DATA_DIR ${dataDir} is in use by \`${holder.command}\` (pid ${holder.pid}, since ${holder.since}). ` +
      `Wait for it to end or stop it (kill ${holder.pid}), or set DATA_DIR to another directory.`)
    this.name = 'DataDirInUseError'
  }
}

/**
 * Acquires the lock, or answers which process holds it. Never waits.
 *
 * Each holder links a file `lock.<n>`, with a number one above the highest that is there; the highest counts. Linking
 * fails when the name exists, so one of several processes wins. The highest file is never deleted, only emptied: a slow
 * process cannot win with a number that others have used before.
 */
export function acquireLock (dataDir: string, role: Role, command: string): Acquired {
  for (;;) {
    const latest = latestNumber(dataDir)
    const heldBy = readHolder(lockPath(dataDir, latest))
    if (heldBy !== undefined && isAlive(heldBy)) return { number: latest, heldBy }
    const number = latest + 1
    if (!linkLock(dataDir, number, { ...ownIdentity(), role, command, since: new Date().toISOString() })) continue
    if (latestNumber(dataDir) === number) {
      removeOlder(dataDir, number)
      return { number, heldBy: undefined }
    }
    rmSync(lockPath(dataDir, number), { force: true })
  }
}

/** Releases the lock of this number. */
export function releaseLock (dataDir: string, number: number): void {
  try {
    writeFileSync(lockPath(dataDir, number), '', { mode: 0o600 })
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error // the directory was deleted, and the lock with it
  }
}

function linkLock (dataDir: string, number: number, holder: Holder): boolean {
  const draft = join(dataDir, `lock.draft-${randomUUID()}`)
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  try {
    linkSync(draft, lockPath(dataDir, number))
    return true
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
    if (name.startsWith('lock.') && name !== `lock.${number}`) rmSync(join(dataDir, name), { force: true })
  }
}

function readHolder (path: string): Holder | undefined {
  const { pid, started, role, command, since } = readJsonObject(path) ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string') return undefined
  return { pid, started, role: role === 'start' ? 'start' : 'command', command: String(command), since: String(since) }
}
