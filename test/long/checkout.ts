// A copy of this repository, to be changed and built, with the libraries that are here.
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../src/package-root.js'
import { dataDir } from '../support/ringledger.js'
import type { Teardown } from '../support/teardown.js'

/** The folder is removed in `t.teardown`; what is bundled of libraries is taken as it is, since it is the same. */
export function checkout (t: Teardown, isWanted = (_file: string) => true): string {
  const folder = dataDir(t)
  const listing = ['-c', 'safe.directory=*', 'ls-files', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', listing, { cwd: packageRoot, encoding: 'utf8' }).trim().split('\n')
  const wanted = files.filter((file) => existsSync(join(packageRoot, file)) && isWanted(file))
  for (const file of [...wanted, 'dist/vendor']) {
    cpSync(join(packageRoot, file), join(folder, file), { recursive: true })
  }
  const [from, to] = [join(packageRoot, 'node_modules'), join(folder, 'node_modules')]
  mkdirSync(join(to, '@ringledger'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@ringledger') symlinkSync(join(from, name), join(to, name))
  for (const name of readdirSync(join(folder, 'packages'))) {
    symlinkSync(join(folder, 'packages', name), join(to, '@ringledger', name))
    const itsOwn = join('packages', name, 'node_modules')
    if (existsSync(join(packageRoot, itsOwn))) symlinkSync(join(packageRoot, itsOwn), join(folder, itsOwn))
  }
  return folder
}

/** Runs commands in it, as somebody types them. @throws when one of them fails, with all that they said */
export async function inCheckout (folder: string, commands: string, env: Record<string, string> = {}): Promise<string> {
  const { PATH, HOME } = process.env
  const running = promisify(execFile)('bash', ['-eo', 'pipefail', '-c', commands], {
    cwd: folder, env: { PATH, HOME, ...env }, maxBuffer: 2 ** 26
  })
  const { stdout } = await running.catch((error: { stdout: string, stderr: string }) => {
    throw new Error(`${commands}\n${error.stdout.slice(-8_000)}${error.stderr.slice(-8_000)}`)
  })
  return stdout
}
