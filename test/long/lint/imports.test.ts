// The import rules that shape the tree, proven by imports that pass and imports that are refused.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { cruise } from 'dependency-cruiser'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import type { Teardown } from '../../support/teardown.js'

/** A rule, a file that it holds for, and the imports that pass there and those that are refused. */
interface ImportCase { rule: string, file: string, good: string, bad: string }

const importCases: ImportCase[] = [
  {
    rule: 'a package imports nothing of the service, and other packages by their names',
    file: 'packages/event-transfer/test/transfer.test.ts',
    good: '../src/store.js tap @ringledger/embedded-event-store/testing',
    bad: '../../../src/config.js ../../../test/support/service.js ../../embedded-postgres/src/child.js'
  },
  {
    rule: 'the model of a feature imports models, the kernel and typebox only',
    file: 'src/features/leads/decide.ts',
    good: '../../domain/rejection.js ../calls/events.js typebox typebox/value',
    bad: 'node:crypto pg ../../log/event-log.js ../../commands/ids.js ./routes.js ../../../projections/leads.js'
  },
  {
    rule: 'the routes of a feature import command handling, models, finders, what workers do on request, and Fastify',
    file: 'src/features/leads/routes.ts',
    good: '../../commands/ids.js ./decide.js ../../../projections/leads.js ../../../workers/imports/parts.js fastify typebox',
    bad: 'pg @eventstore/db-client ../../log/event-log.js ../../postgres/pool.js ../../../workers/start.js ' +
      '../../services/roles.js ../../services/services.js ../../../projections/engine/run.js'
  },
  {
    rule: 'HTTP reaches no back end',
    file: 'src/http/docs/describe.ts',
    good: 'fastify @fastify/jwt jose ../../config.js ../../commands/idempotency.js',
    bad: 'pg bullmq ../../log/event-log.js ../../../projections/leads.js ../../features/leads/routes.js'
  },
  {
    rule: 'the tests of a feature import that feature and what all tests share',
    file: 'test/features/leads/create-lead.test.ts',
    good: '../../../src/features/leads/decide.js ../../support/commands/given.js ./fields.js node:fs',
    bad: '../../../src/features/calls/events.js ../../../src/domain/decider.js ../../../projections/leads.js ../../run/files.js'
  },
  {
    rule: 'projections never import workers',
    file: 'projections/leads.ts',
    good: './engine/run.js ../src/features/leads/model.js ../src/subscriptions/run.js ../src/postgres/pool.js pg',
    bad: '../workers/start.js ../src/features/leads/routes.js ../src/http/auth.js bullmq undici fastify'
  },
  {
    rule: 'workers never import projections',
    file: 'workers/dispatch/dispatch.ts',
    good: '../deliveries/deliveries.js ../../src/features/calls/events.js ../../src/subscriptions/run.js pg',
    bad: '../../projections/leads.js ../../src/services/roles.js bullmq ioredis undici standardwebhooks fastify'
  }
]

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
  ]) t.same(await refusedIn(t, { 'src/features/leads/decide.ts': text }), ['pg'], text)
})

t.test('the command line loads what is embedded only when it is needed', async (t) => {
  for (const embedded of ['../services/embedded/stack.js', '@ringledger/embedded-postgres/data-dir']) {
    const spellings = {
      [`export const load = () => import('${embedded}')`]: 0,
      [`import type { Stack } from '${embedded}'`]: 0,
      [`import '${embedded}'`]: 1
    }
    for (const [text, count] of Object.entries(spellings)) {
      t.equal((await refusedIn(t, { 'src/cli/serve.ts': text })).length, count, text)
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
