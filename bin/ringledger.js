#!/usr/bin/env node
// Starts the compiled command line; in a checkout it compiles first when the sources are newer,
// so that the commands work after `npm ci` alone, also with install scripts switched off.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const buildInfo = join(root, 'dist/.tsbuildinfo')
const builtAt = existsSync(buildInfo) ? statSync(buildInfo).mtimeMs : 0
const isNewer = (folder, than) => existsSync(join(root, folder)) && readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
  .some((entry) => entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > than)

const isCheckout = existsSync(join(root, 'tsconfig.build.json'))
const sources = () => ['src', 'projections', 'workers', ...readdirSync(join(root, 'packages')).map((name) => join('packages', name, 'src'))]
if (isCheckout && sources().some((folder) => isNewer(folder, builtAt))) {
  process.stderr.write('Compiling the sources to dist/ ...\n')
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  try {
    execFileSync(process.execPath, [tsc, '-b', join(root, 'tsconfig.build.json')], { cwd: root, stdio: ['ignore', 2, 2] })
  } catch {
    rmSync(buildInfo, { force: true }) // or the next command would take what was emitted all the same for good
    process.stderr.write('The sources do not compile.\n')
    process.exit(1)
  }
  utimesSync(buildInfo, new Date(), new Date()) // the compiler leaves it alone when nothing changed
}

await import('../dist/src/main.js')
