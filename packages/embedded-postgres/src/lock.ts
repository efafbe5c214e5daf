// Exactly one process holds a DATA_DIR; who was killed holds it no longer, at once.
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

export interface Claim {
  /** Rises with every holder of this DATA_DIR. */
  generation: number
  /** The live process that holds the directory; undefined: the caller holds it now. */
  heldBy: Holder | undefined
}

/** Who wants a DATA_DIR that somebody else holds. The message says which, by whom, and what to do. */
export class DataDirInUseError extends Error {
  constructor (dataDir: string, holder: Holder) {
    super(`DATA_DIR ${dataDir} is in use by \`${holder.command}\` (pid ${holder.pid}, since ${holder.since}). ` +
      `Wait for it to end or stop it (kill ${holder.pid}), or set DATA_DIR to another directory.`)
    this.name = 'DataDirInUseError'
  }
}

/**
 * Takes the directory, or says who has it. Never waits.
 *
 * Each holder links a file `lock.<n>`, one above the highest there; the highest decides. Linking fails when
 * the name exists, so of any number of racers one wins; and as the highest is never deleted, only emptied,
 * a racer that was slow cannot win with a number that others have left behind.
 */
export function claim (dataDir: string, role: Role, command: string): Claim {
  for (;;) {
    const latest = latestGeneration(dataDir)
    const heldBy = readHolder(lockPath(dataDir, latest))
    if (heldBy !== undefined && isAlive(heldBy)) return { generation: latest, heldBy }
    const generation = latest + 1
    if (!linkLock(dataDir, generation, { ...ownIdentity(), role, command, since: new Date().toISOString() })) continue
    if (latestGeneration(dataDir) === generation) {
      removeOlder(dataDir, generation)
      return { generation, heldBy: undefined }
    }
    rmSync(lockPath(dataDir, generation), { force: true })
  }
}

/** Gives the directory back. */
export function release (dataDir: string, generation: number): void {
  try {
    writeFileSync(lockPath(dataDir, generation), '', { mode: 0o600 })
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error // the directory was deleted, and the lock with it
  }
}

function linkLock (dataDir: string, generation: number, holder: Holder): boolean {
  const draft = join(dataDir, `lock.draft-${randomUUID()}`)
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  try {
    linkSync(draft, lockPath(dataDir, generation))
    return true
  } catch (error) {
    // ENOENT: the winner of a race has already swept our draft away.
    if (errorCode(error) === 'EEXIST' || errorCode(error) === 'ENOENT') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

function lockPath (dataDir: string, generation: number): string {
  return join(dataDir, `lock.${generation}`)
}

function latestGeneration (dataDir: string): number {
  const numbers = readdirSync(dataDir).map((name) => Number(/^lock\.(\d+)$/.exec(name)?.[1] ?? 0))
  return Math.max(0, ...numbers)
}

function removeOlder (dataDir: string, generation: number): void {
  for (const name of readdirSync(dataDir)) {
    if (name.startsWith('lock.') && name !== `lock.${generation}`) rmSync(join(dataDir, name), { force: true })
  }
}

function readHolder (path: string): Holder | undefined {
  const { pid, started, role, command, since } = readJsonObject(path) ?? {}
  if (typeof pid !== 'number' || typeof started !== 'string') return undefined
  return { pid, started, role: role === 'start' ? 'start' : 'command', command: String(command), since: String(since) }
}
