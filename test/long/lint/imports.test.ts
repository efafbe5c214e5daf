// Each row of the import rules, proven by imports that pass and imports that are refused.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { cruise } from 'dependency-cruiser'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import type { Teardown } from '../../support/teardown.js'

// A case for each import rule of the packages.
/** A rule, a file that it holds for, and the imports that pass there and those that are refused. */
interface ImportCase { rule: string, file: string, good: string, bad: string }

const packageCases: ImportCase[] = [
  {
    rule: 'the event transfer imports the EventStoreDB client and nothing of ours',
    file: 'packages/event-transfer/src/store.ts',
    good: './wire.js @eventstore/db-client node:crypto',
    bad: 'pg @grpc/grpc-js google-protobuf ../../../src/event-store/streams.js ../../embedded-postgres/src/child.js ' +
      '@ringledger/embedded-postgres'
  },
  {
    rule: 'the client imports what sends requests and verifies webhooks, and nothing of ours',
    file: 'packages/client/src/connect.ts',
    good: './retrying.js openapi-fetch standardwebhooks node:crypto',
    bad: 'fastify undici ../../../src/http/docs/examples.js ../../event-transfer/src/store.js @ringledger/event-transfer'
  },
  {
    rule: 'embedded Postgres imports pg and nothing of ours',
    file: 'packages/embedded-postgres/src/postgres.ts',
    good: './child.js node:fs pg',
    bad: '../../../src/config.js ../../embedded-event-store/src/server.js @ringledger/embedded-event-store ' +
      '@grpc/grpc-js fastify'
  },
  {
    rule: 'the embedded event store imports its protocol, pg and embedded Postgres',
    file: 'packages/embedded-event-store/src/server.ts',
    good: './log/log.js @grpc/grpc-js @eventstore/db-client pg re2js @ringledger/embedded-postgres/child',
    bad: '../../../src/postgres/pool.js @ringledger/event-transfer fastify'
  },
  {
    rule: 'the tests of a package import nothing of the service, and other packages by their names',
    file: 'packages/event-transfer/test/transfer.test.ts',
    good: '../src/store.js tap @ringledger/embedded-event-store/testing',
    bad: '../../../src/config.js ../../../test/support/service.js ../../embedded-postgres/src/child.js'
  },
  {
    rule: 'tracing knows nothing of ours',
    file: 'src/tracing/open-telemetry.ts',
    good: './tracing.js @opentelemetry/api @opentelemetry/sdk-trace-base',
    bad: '../domain/rejection.js ../http/logging.js pg pino'
  },
  {
    rule: 'OpenTelemetry is loaded where tracing is on',
    file: 'src/http/status/trace-requests.ts',
    good: '../../tracing/tracing.js fastify',
    bad: '@opentelemetry/api ../../tracing/open-telemetry.js'
  }
]

// A case for each row of the import rules, .dependency-cruiser.js.
const importCases: ImportCase[] = [
  ...packageCases,
  {
    rule: 'the domain imports itself and typebox only',
    file: 'src/domain/lead/decide.ts',
    good: '../rejection.js typebox typebox/value',
    bad: 'node:crypto pg ../../event-store/streams.js ../../command-handling/ids.js ../../../projections/leads.js'
  },
  {
    rule: 'the event store room imports the domain and the EventStoreDB client',
    file: 'src/event-store/streams.ts',
    good: '../domain/rejection.js @eventstore/db-client node:timers/promises',
    bad: 'pg ../postgres/pool.js ../subscriptions/run.js @ringledger/embedded-event-store'
  },
  {
    rule: 'the Postgres room imports pg, and nothing of ours',
    file: 'src/postgres/pool.ts',
    good: './transaction.js pg node:path',
    bad: '../domain/rejection.js ../event-store/streams.js bullmq'
  },
  {
    rule: 'subscriptions stand on domain, event store and Postgres',
    file: 'src/subscriptions/run.ts',
    good: './lease.js ../domain/decider.js ../event-store/subscribe.js ../postgres/pool.js pg node:events',
    bad: '../../projections/leads.js ../../workers/start.js ../recovery/marker.js @eventstore/db-client'
  },
  {
    rule: 'sealing stands on domain, event store and Postgres',
    file: 'src/sealing/cached-keys.ts',
    good: './log-keys.js ../domain/events.js ../event-store/streams.js ../postgres/look-up.js pg node:zlib',
    bad: '../command-handling/phone-hash.js ../../workers/start.js ../../projections/leads.js ../http/auth/auth.js'
  },
  {
    rule: 'recovery stands on subscriptions',
    file: 'src/recovery/marker.ts',
    good: '../subscriptions/lease.js ../event-store/streams.js ../postgres/pool.js pg',
    bad: '../command-handling/ids.js ../../workers/start.js ../../projections/leads.js'
  },
  {
    rule: 'command handling knows neither HTTP nor the read models',
    file: 'src/command-handling/handle-command.ts',
    good: '../domain/decider.js ../event-store/streams.js ../postgres/pool.js',
    bad: '../http/auth/auth.js ../../projections/leads.js ../../workers/start.js ' +
      '@ringledger/embedded-postgres bullmq undici fastify'
  },
  {
    rule: 'HTTP holds the Fastify plugins and reaches no back end',
    file: 'src/http/limits/rate-limit.ts',
    good: 'fastify @fastify/jwt jose ../../config.js ../../command-handling/idempotency.js',
    bad: 'pg bullmq ../../event-store/streams.js ../../../projections/leads.js ../../commands/lead/create-lead.js'
  },
  {
    rule: 'commands import command handling, the domain, finders and Fastify',
    file: 'src/commands/lead/create-lead.ts',
    good: '../../command-handling/ids.js ../../domain/lead/decide.js ../../../projections/leads.js ' +
      '../../http/auth/auth.js fastify typebox',
    bad: 'pg @eventstore/db-client ../../event-store/streams.js ../../postgres/pool.js ../../../workers/start.js ' +
      '../../composition/roles.js ../../../projections/engine/run.js'
  },
  {
    rule: 'queries import the domain, finders and Fastify',
    file: 'src/queries/list-leads.ts',
    good: '../domain/lead/summary.js ../../projections/leads.js fastify @fastify/type-provider-typebox',
    bad: 'pg ioredis ../../workers/start.js ../app.js'
  },
  {
    rule: 'projections never import workers',
    file: 'projections/leads.ts',
    good: './engine/run.js ../src/domain/lead/evolve.js ../src/subscriptions/run.js ../src/postgres/pool.js pg',
    bad: '../workers/start.js ../src/commands/lead/create-lead.js ../src/http/auth.js bullmq undici fastify'
  },
  {
    rule: 'workers never import projections',
    file: 'workers/dispatch/dispatch.ts',
    good: '../deliveries/deliveries.js ../../src/domain/call/events.js ../../src/subscriptions/run.js pg',
    bad: '../../projections/leads.js ../../src/composition/roles.js bullmq ioredis undici standardwebhooks fastify'
  },
  {
    rule: 'the embedded stack composes two packages',
    file: 'src/composition/embedded/stack.ts',
    good: './run-file.js @ringledger/embedded-postgres/lock @ringledger/embedded-event-store/child ' +
      'node:timers/promises',
    bad: '../../config.js ../../postgres/pool.js pg @ringledger/event-transfer'
  },
  {
    rule: 'composition imports everything but what is embedded',
    file: 'src/composition/connections.ts',
    good: '../app.js ../event-store/streams.js ../../projections/leads.js ../../workers/start.js pg',
    bad: './embedded/stack.js @ringledger/embedded-postgres @eventstore/db-client ../main.js'
  },
  {
    rule: 'the command line does not load what is embedded at start',
    file: 'src/main.ts',
    good: './composition/roles.js ./config.js commander',
    bad: './composition/embedded/stack.js @ringledger/embedded-postgres @eventstore/db-client fastify'
  },
  {
    rule: 'the commands that replay never import workers',
    file: 'src/cli/projections/replay.ts',
    good: '../../../projections/replay/replay.js ../../composition/connections.js cli-table3',
    bad: '../../../workers/deliver/post.js ../../../workers/operate/audit.js undici bullmq'
  },
  {
    rule: 'the commands on parked events import nothing that sends',
    file: 'src/cli/quarantine/retry.ts',
    good: '../../../workers/dispatch/retry.js ../../../projections/operate/reproject.js',
    bad: '../../../workers/deliver/post.js ../../../workers/queue/queue.js undici bullmq'
  },
  {
    rule: 'the queue client lives in queue',
    file: 'workers/queue/bullmq.ts',
    good: 'bullmq',
    bad: 'ioredis undici standardwebhooks'
  },
  {
    rule: 'Redis lives in its back end',
    file: 'workers/queue/back-ends/redis.ts',
    good: 'bullmq ioredis',
    bad: 'undici standardwebhooks'
  },
  {
    rule: 'webhooks are signed by node itself',
    file: 'workers/deliver/sign.ts',
    good: 'node:crypto',
    bad: 'standardwebhooks undici bullmq'
  },
  {
    rule: 'the HTTP client lives in post',
    file: 'workers/deliver/post.ts',
    good: 'undici ./guard.js',
    bad: 'standardwebhooks ipaddr.js'
  },
  { rule: 'addresses are read in guard', file: 'workers/deliver/guard.ts', good: 'undici ipaddr.js', bad: 'bullmq' }
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
