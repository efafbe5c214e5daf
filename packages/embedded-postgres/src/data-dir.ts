// Creates and checks DATA_DIR, explains why it cannot be used, and writes small JSON files in it.
import { randomUUID } from 'node:crypto'
import {
  accessSync, closeSync, constants, existsSync, fchownSync, linkSync, mkdirSync, openSync, readFileSync, realpathSync,
  renameSync, rmSync, statSync, writeFileSync
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of its path is not a directory',
  ENOTDIR: 'a part of its path is not a directory'
}

/** The message says what is wrong with DATA_DIR and, after its first full stop, how to fix it. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable'
  constructor (dataDir: string, cause: unknown, mend?: string) {
    const reason = REASONS[errorCode(cause)] ?? (cause instanceof Error ? cause.message : String(cause))
    const otherwise = mend ?? `Make it a directory that ${callerName()} may write, with about 200 MB to spare`
    super(`DATA_DIR ${dataDir} cannot be used: ${reason}. ${otherwise}, or set DATA_DIR to another one.`, { cause })
  }
}

/** Creates a missing DATA_DIR, mode 0700. @returns its real absolute path @throws when it cannot be used */
export function prepareDataDir (path: string): string {
  const dataDir = resolve(path)
  try {
    makePrivate(dataDir)
    return usable(dataDir)
  } catch (error) {
    throw new DataDirUnusable(dataDir, error)
  }
}

/** Like `prepareDataDir`, but creates nothing: undefined if it is missing and could be created. */
export function lookAtDataDir (path: string): string | undefined {
  const dataDir = resolve(path)
  try {
    if (statSync(dataDir, { throwIfNoEntry: false })) return usable(dataDir)
    accessSync(`${nearestFolder(dataDir)}/.`, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    throw new DataDirUnusable(dataDir, error)
  }
}

/** The closest existing folder, in which a missing path would be created. */
export const nearestFolder = (path: string): string =>
  existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path))

/** Exists in DATA_DIR until a restore is complete. */
export const unfinishedNote = 'restore.unfinished'

/** @throws when a restore was interrupted here */
export function refuseUnfinished (dataDir: string): void {
  if (!existsSync(join(dataDir, unfinishedNote))) return
  throw new Error(`A restore into DATA_DIR ${dataDir} was broken off: run \`ringledger restore FILE\` again, ` +
    'or remove the directory.')
}

/** Explains an error of the system as one of DATA_DIR; returns other errors as they are. */
export function explained (dataDir: string, error: unknown): unknown {
  return errorCode(error) in REASONS ? new DataDirUnusable(dataDir, error) : error
}

function usable (dataDir: string): string {
  if (!statSync(dataDir).isDirectory()) throw new Error('it is not a directory')
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  return realpathSync(dataDir)
}

// Only a new directory gets the mode: the owner may have changed that of an existing one.
function makePrivate (dataDir: string): void {
  mkdirSync(dirname(dataDir), { recursive: true })
  try {
    mkdirSync(dataDir, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(dataDir)) throw error
  }
}

const callerName = () => process.getuid === undefined ? 'this user' : `uid ${process.getuid()}`

/** The JSON object in a file; undefined when the file is missing, empty, truncated or no object. */
export function readJsonObject (path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces a file atomically: readers see the old or new content, even after a crash. Mode 0600. */
export function writeJsonObject (path: string, content: object): void {
  putJsonObject(path, content, 0o600, renameSync)
}

/** Creates a file atomically. @throws EEXIST when it exists */
export function makeJsonObject (path: string, content: object, mode = 0o600): void {
  putJsonObject(path, content, mode, linkSync)
}

/** The file belongs to the owner of its directory, also where root writes it. */
function putJsonObject (path: string, content: object, mode: number, put: (draft: string, path: string) => void): void {
  const draft = `${path}.${randomUUID()}.tmp`
  const { uid, gid } = statSync(dirname(path))
  const file = openSync(draft, 'wx', mode)
  try {
    if (process.geteuid?.() === 0) fchownSync(file, uid, gid) // not by its name, which others could take
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { flush: true })
    put(draft, path)
  } finally {
    closeSync(file)
    rmSync(draft, { force: true })
  }
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The system's error code, such as `ENOENT`; empty when there is none. */
export function errorCode (error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
