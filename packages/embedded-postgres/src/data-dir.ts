// DATA_DIR itself, and run.json in it, through which commands find a running `start`.
import { accessSync, constants, existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode, isObject, readJsonObject, writeJsonObject } from './json-file.js'

const REASONS: Record<string, string> = {
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EEXIST: 'a part of its path is not a directory',
  ENOTDIR: 'a part of its path is not a directory'
}

/** What a running `start` tells other commands; further keys are the starter's own. */
export interface RunFile {
  generation: number
  databaseUrl: string
  eventStoreUrl: string
  pids: Record<string, number>
}

/** Makes DATA_DIR (mode 0700) when it is missing; its real absolute path. Throws, naming it, when it cannot be used. */
export function prepareDataDir (path: string): string {
  const dataDir = resolve(path)
  try {
    makePrivate(dataDir)
    if (!statSync(dataDir).isDirectory()) throw new Error('it is not a directory')
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    return realpathSync(dataDir)
  } catch (error) {
    throw dataDirError(dataDir, error)
  }
}

/** Says what is wrong with DATA_DIR, and how to mend it, where the system's error is one of writing to it; else the error as it is. */
export function explained (dataDir: string, error: unknown): unknown {
  return errorCode(error) in REASONS ? dataDirError(dataDir, error) : error
}

/** Publishes a running stack, mode 0600, whole or not at all. */
export function writeRunFile (dataDir: string, run: RunFile & Record<string, unknown>): void {
  writeJsonObject(runPath(dataDir), run)
}

/** The published stack of that holder of the directory; undefined while it has not published one. */
export function readRunFile (dataDir: string, generation: number): RunFile | undefined {
  const run = readJsonObject(runPath(dataDir))
  if (run === undefined || run.generation !== generation) return undefined
  const { databaseUrl, eventStoreUrl } = run
  if (typeof databaseUrl !== 'string' || typeof eventStoreUrl !== 'string') return undefined
  const pids = isObject(run.pids) ? run.pids : {}
  const known = Object.entries(pids).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
  return { generation, databaseUrl, eventStoreUrl, pids: Object.fromEntries(known) }
}

export function removeRunFile (dataDir: string): void {
  rmSync(runPath(dataDir), { force: true })
}

// The mode comes with the making: whoever finds the directory there may have opened it up since.
function makePrivate (dataDir: string): void {
  mkdirSync(dirname(dataDir), { recursive: true })
  try {
    mkdirSync(dataDir, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(dataDir)) throw error
  }
}

function runPath (dataDir: string): string {
  return join(dataDir, 'run.json')
}

function dataDirError (dataDir: string, error: unknown): Error {
  const reason = REASONS[errorCode(error)] ?? (error instanceof Error ? error.message : String(error))
  return new Error(`DATA_DIR ${dataDir} cannot be used: ${reason}. ` +
    `Make it a directory that ${callerName()} may write, with about 200 MB to spare, or set DATA_DIR to another one.`, { cause: error })
}

function callerName (): string {
  return process.getuid === undefined ? 'this user' : `uid ${process.getuid()}`
}
