// DATA_DIR itself: made when it is missing, refused by name when it cannot be used; and small JSON files in it.
import { randomUUID } from 'node:crypto'
import {
  accessSync, constants, existsSync, linkSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync,
  writeFileSync
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

/** What is wrong with DATA_DIR, and after the first full stop what mends it. */
export class DataDirUnusable extends Error {
  override readonly name = 'DataDirUnusable'
  constructor (dataDir: string, cause: unknown, mend?: string) {
    const reason = REASONS[errorCode(cause)] ?? (cause instanceof Error ? cause.message : String(cause))
    const otherwise = mend ?? `Make it a directory that ${callerName()} may write, with about 200 MB to spare`
    super(`DATA_DIR ${dataDir} cannot be used: ${reason}. ${otherwise}, or set DATA_DIR to another one.`, { cause })
  }
}

/** Makes DATA_DIR, mode 0700, when it is missing. Answers its real absolute path. @throws when it cannot be used */
export function prepareDataDir (path: string): string {
  const dataDir = resolve(path)
  try {
    makePrivate(dataDir)
    return usable(dataDir)
  } catch (error) {
    throw new DataDirUnusable(dataDir, error)
  }
}

/** The same without making it: nothing where it could be made. */
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

/** The folder in which a path that is not there yet will be made. */
export const nearestFolder = (path: string): string =>
  existsSync(path) || path === dirname(path) ? path : nearestFolder(dirname(path))

/** In DATA_DIR as long as a restore is not done. */
export const unfinishedNote = 'restore.unfinished'

/** @throws when a restore was broken off here */
export function refuseUnfinished (dataDir: string): void {
  if (!existsSync(join(dataDir, unfinishedNote))) return
  throw new Error(`A restore into DATA_DIR ${dataDir} was broken off: run \`ringledger restore FILE\` again, ` +
    'or remove the directory.')
}

/** An error that says how to mend DATA_DIR when the system could not write to it; else the error as it is. */
export function explained (dataDir: string, error: unknown): unknown {
  return errorCode(error) in REASONS ? new DataDirUnusable(dataDir, error) : error
}

function usable (dataDir: string): string {
  if (!statSync(dataDir).isDirectory()) throw new Error('it is not a directory')
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  return realpathSync(dataDir)
}

// Only a new directory gets the mode: its owner may have changed that of an existing one.
function makePrivate (dataDir: string): void {
  mkdirSync(dirname(dataDir), { recursive: true })
  try {
    mkdirSync(dataDir, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(dataDir)) throw error
  }
}

const callerName = () => process.getuid === undefined ? 'this user' : `uid ${process.getuid()}`

/** The object in a file; undefined when the file is missing, empty, torn or holds no object. */
export function readJsonObject (path: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Replaces a file atomically; readers see the old or the new content, also after a crash. Mode 0600. */
export function writeJsonObject (path: string, content: object): void {
  putJsonObject(path, content, renameSync)
}

/** Makes a file in the same way. @throws EEXIST when it is there */
export function makeJsonObject (path: string, content: object): void {
  putJsonObject(path, content, linkSync)
}

function putJsonObject (path: string, content: object, put: (draft: string, path: string) => void): void {
  const draft = `${path}.${randomUUID()}.tmp`
  try {
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flush: true })
    put(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
}

export function isObject (value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The system's code of an error, such as `ENOENT`; empty when it has none. */
export function errorCode (error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
