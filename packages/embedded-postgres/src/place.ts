// Locates the cluster of a DATA_DIR: inside it, or in the system's state directory when Postgres' account cannot reach
// DATA_DIR. Loads no code that runs a cluster.
import { createHash } from 'node:crypto'
import {
  chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync, type Stats
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { errorCode } from './data-dir.js'

/** A text file in DATA_DIR; its one line is the directory that holds the cluster. */
export const POINTER = 'postgres.location'
/** Holds clusters that cannot be inside their DATA_DIR. */
export const STATE_DIR = process.platform === 'darwin' ? '/var/db/ringledger' : '/var/lib/ringledger'

export interface Place {
  dataDir: string
  /** Holds the cluster and its files. The caller owns it; the account may pass through. */
  home: string
  cluster: string
  account: Account | undefined
}

/** Finds or creates the place. @throws when it exists and cannot be reached */
export function locate (dataDir: string): Place {
  const pointed = readPointer(dataDir)
  if (pointed !== undefined) return openHome(dataDir, pointed)
  const inside = join(dataDir, 'postgres')
  const account = accountFor(join(inside, 'cluster'))
  if (account !== undefined) letIn(dataDir, account)
  if (account !== undefined && !existsSync(join(inside, 'cluster')) && !canReach(account, dataDir, 1)) {
    return openHome(dataDir, makeOutside(dataDir))
  }
  mkdirSync(inside, { recursive: true })
  return openHome(dataDir, inside)
}

/** The cluster of this DATA_DIR; undefined when there is none. Changes nothing. */
export function findCluster (dataDir: string): string | undefined {
  const cluster = join(readPointer(dataDir) ?? join(dataDir, 'postgres'), 'cluster')
  return existsSync(cluster) ? cluster : undefined
}

/** Removes a DATA_DIR and the cluster it points to. Nobody may be using it. */
export function removeDataDir (dataDir: string): void {
  const pointed = readPointer(dataDir)
  if (pointed !== undefined) rmSync(pointed, { recursive: true, force: true })
  rmSync(dataDir, { recursive: true, force: true })
}

function openHome (dataDir: string, home: string): Place {
  const cluster = join(home, 'cluster')
  const account = accountFor(cluster)
  if (account === undefined || canReach(account, home, 1)) return { dataDir, home, cluster, account }
  chownSync(home, 0, account.gid)
  chmodSync(home, 0o710)
  if (canReach(account, home, 1)) return { dataDir, home, cluster, account }
  throw new Error(`Postgres runs as ${account.name}, who cannot reach the cluster in ${home}. ` +
    'Let others pass the directories above it (chmod o+x), as it was when the cluster was made.')
}

// If only root may enter DATA_DIR, gives the account's group, and nobody else, the right to pass.
function letIn (dataDir: string, account: Account): void {
  const { uid, mode } = statSync(dataDir)
  if (uid !== 0 || (mode & 0o077) !== 0 || canReach(account, dataDir, 1)) return
  chownSync(dataDir, 0, account.gid)
  chmodSync(dataDir, (mode & 0o7777) | 0o010)
}

// An existing name belongs to a deleted DATA_DIR. Its data is neither used nor deleted.
function makeOutside (dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16)
  makeStateDir()
  for (let n = 1; ; n++) {
    const home = join(STATE_DIR, n === 1 ? hash : `${hash}-${n}`)
    try {
      mkdirSync(home)
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue
      throw error
    }
    writeFileSync(join(home, 'data-dir.txt'), `${dataDir}\n`)
    writeFileSync(join(dataDir, POINTER), `${home}\n`)
    return home
  }
}

function makeStateDir (): void {
  try {
    if (existsSync(STATE_DIR)) return
    mkdirSync(STATE_DIR, { recursive: true })
    chmodSync(STATE_DIR, 0o711)
  } catch (error) {
    throw new Error('The account that runs Postgres cannot reach DATA_DIR, ' +
      `and ${STATE_DIR} cannot be made (${errorCode(error)}). Set DATA_DIR to a directory under parents ` +
      'that everybody may pass, such as /srv/ringledger, or set DATABASE_URL.', { cause: error })
  }
}

/** The outside directory that DATA_DIR points to, if any. @throws when it does not exist */
export function readPointer (dataDir: string): string | undefined {
  const pointer = join(dataDir, POINTER)
  const home = existsSync(pointer) ? readFileSync(pointer, 'utf8').trim() : ''
  if (home === '') return undefined // a full disk leaves an empty file
  // Root follows this file, so only one kind of target is allowed.
  if (!home.startsWith(STATE_DIR + sep) || home.includes('..')) {
    throw new Error(`${pointer} must name a directory under ${STATE_DIR}, not ${home}.`)
  }
  if (!existsSync(home)) {
    throw new Error(`${pointer} says that the cluster is in ${home}, which is not there. ` +
      `Restore it from a backup, or remove ${dataDir} to begin with an empty one.`)
  }
  return home
}

/** An account other than the caller's; unsigned ids, as in `stat`. */
export interface Account {
  name: string
  uid: number
  gid: number
}

/**
 * The account that Postgres runs as; undefined for the caller's. Postgres refuses to run as root, so root runs it as
 * the owner of an existing cluster, else as `nobody`, which exists everywhere.
 */
export function accountFor (cluster: string): Account | undefined {
  if (process.geteuid?.() !== 0) return undefined
  const owner = statSync(cluster, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { name: nameOf(owner.uid), uid: owner.uid, gid: owner.gid }
  return nobody()
}

/** Whether the account may pass every directory above a path and has these rights on it (4 read, 2 write, 1 pass). */
export function canReach (account: Account, path: string, bits: number): boolean {
  const parent = dirname(path)
  if (parent !== path && !canReach(account, parent, 1)) return false
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && allows(stats, account, bits)
}

function allows (stats: Stats, account: Account, bits: number): boolean {
  const shift = stats.uid === account.uid ? 6 : stats.gid === account.gid ? 3 : 0
  return ((stats.mode >> shift) & bits) === bits
}

function nobody (): Account {
  const [, , uid, gid] = passwd().find(([name]) => name === 'nobody') ?? []
  return { name: 'nobody', uid: unsigned(uid ?? '65534'), gid: unsigned(gid ?? '65534') }
}

function nameOf (uid: number): string {
  return passwd().find(([, , id]) => id !== undefined && unsigned(id) === uid)?.[0] ?? `uid ${uid}`
}

// macOS lists nobody's ids as -2; stat and chown use 4294967294.
function unsigned (id: string): number {
  return Number(id) >>> 0
}

function passwd (): string[][] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  } catch {
    return []
  }
}
