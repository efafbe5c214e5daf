// A build of an earlier commit, as the release before: its own sources and packages, the libraries that are here.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../../src/package-root.js'
import { dataDir } from '../ringledger.js'
import type { Teardown } from '../teardown.js'

const run = promisify(execFile)
const parts = ['bin', 'src', 'projections', 'workers', 'migrations', 'examples', 'packages', 'package.json', 'package-lock.json']

/** Whether the history is here: an archive of the sources has none. */
export async function hasCommit (commit: string): Promise<boolean> {
  return await git('cat-file', '-e', `${commit}^{commit}`).then(() => true, () => false)
}

/** @returns the folder of the build, removed in `t.teardown` */
export async function buildOf (t: Teardown, commit: string): Promise<string> {
  const folder = dataDir(t)
  const archive = join(folder, 'sources.tar')
  await git('archive', '--output', archive, commit, ...parts)
  await run('tar', ['-xf', archive, '-C', folder, '--exclude=packages/*/test'])
  linkLibraries(folder)
  await run(process.execPath, [join(folder, 'bin/build.js')], { cwd: folder, env: { PATH: process.env.PATH } })
  return folder
}

/** Its lock file asks for nothing that is not here: libraries came since, and none became incompatible. */
function linkLibraries (folder: string): void {
  const [from, to] = [join(packageRoot, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(to, '@ringledger'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@ringledger') symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(to, '@ringledger', name))
  }
}

const git = async (...args: string[]) => await run('git', ['-c', `safe.directory=${packageRoot}`, '-C', packageRoot, ...args])
