// DATA_DIR itself: made when it is missing, refused by name when it cannot be used.
import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { errorCode } from './json-file.js'

export { errorCode, isObject, makeJsonObject, readJsonObject, writeJsonObject } from './json-file.js'

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

function callerName (): string {
  return process.getuid === undefined ? 'this user' : `uid ${process.getuid()}`
}
