// Each row of the import rules, proven by imports that pass and imports that are refused.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { cruise } from 'dependency-cruiser'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import { importCases } from '../../support/lint/import-cases.js'
import type { Teardown } from '../../support/teardown.js'

const { default: { forbidden, options } } = await import(join(packageRoot, '.dependency-cruiser.js'))

for (const { rule, file, good, bad } of importCases) {
  t.test(rule, async (t) => {
    const passing = good.split(' ')
    const failing = bad.split(' ')
    const text = [...passing, ...failing].map((name) => `import '${name}'`).join('\n')
    t.same(await refusedIn(t, { [file]: text }), failing.sort(), `${file}: exactly these are refused`)
  })
}

t.test('no spelling of an import slips through', async (t) => {
  for (const text of [
    "import type { Pool } from 'pg'",
    "import { type Pool } from 'pg'",
    "export { Pool } from 'pg'",
    "export * from 'pg'",
    "export const load = () => import('pg')",
    "export type Pool = import('pg').Pool",
    "import pg = require('pg')",
    "export const pg = require('pg')"
  ]) t.same(await refusedIn(t, { 'src/domain/lead/decide.ts': text }), ['pg'], text)
})

t.test('the command line loads what is embedded only when it is needed', async (t) => {
  for (const embedded of ['../composition/embedded/stack.js', '@ringledger/embedded-postgres/data-dir']) {
    const spellings = {
      [`export const load = () => import('${embedded}')`]: 0,
      [`import type { Stack } from '${embedded}'`]: 0,
      [`import '${embedded}'`]: 1
    }
    for (const [text, count] of Object.entries(spellings)) {
      t.equal((await refusedIn(t, { 'src/cli/start.ts': text })).length, count, text)
    }
  }
})

t.test('a circle is refused, also one of types', async (t) => {
  const refused = await refusedIn(t, {
    'src/domain/a.ts': "import type { B } from './b.js'\nexport interface A { b: B }",
    'src/domain/b.ts': "import type { A } from './a.js'\nexport interface B { a: A }"
  })
  t.equal(refused.length, 1)
})

/** The imports that the rules refuse in a tree of just these files; what else they name is there, and empty. */
async function refusedIn (t: Teardown, files: Record<string, string>): Promise<string[]> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'rl-imports-')))
  t.teardown(() => rm(root, { recursive: true, force: true }))
  await symlink(join(packageRoot, 'node_modules'), join(root, 'node_modules'))
  for (const [file, text] of Object.entries(files)) {
    for (const [, target = ''] of text.matchAll(/'(\.[^']*)\.js'/g)) {
      await write(resolve(root, dirname(file), `${target}.ts`), '')
    }
  }
  for (const [file, text] of Object.entries(files)) await write(join(root, file), text)
  const doNotFollow = { path: 'node_modules|^[.][.]/.*/packages/' } // what is linked there lies outside of the tree
  const { output } = await cruise(Object.keys(files), {
    ...options, doNotFollow, tsConfig: undefined, validate: true, ruleSet: { forbidden }, baseDir: root
  })
  if (typeof output === 'string') throw new Error(output)
  const specifiers = new Map(output.modules.flatMap(({ source, dependencies }) => dependencies.map(
    ({ resolved, module, protocol = '' }) => [`${source} ${resolved}`, protocol + module])))
  return [...new Set(output.summary.violations.map(({ from, to }) => specifiers.get(`${from} ${to}`) ?? to))].sort()
}

async function write (file: string, text: string) {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
}
