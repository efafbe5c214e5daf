// Each import zone, proven by one import that must be refused and one that must pass.
import t from 'tap'
import { refused } from '../support/lint.js'

interface Case { zone: string, file: string, good: string, bad: string[] }

const cases: Case[] = [
  {
    zone: 'domain imports domain and typebox only',
    file: 'src/domain/lead/decide.ts',
    good: '../rejection.js typebox typebox/value',
    bad: ['node:crypto', 'pg', 'uuidv7', '../../event-store/streams.js', '../../command-handling/handle-command.js', '../../../projections/leads.js']
  },
  {
    zone: 'event-store imports domain and the EventStoreDB client',
    file: 'src/event-store/streams.ts',
    good: '../domain/rejection.js @eventstore/db-client node:timers/promises',
    bad: ['pg', '../postgres/pool.js', '../subscriptions/run.js', '../embedded/event-store/server.js']
  },
  {
    zone: 'event-transfer imports the EventStoreDB client and nothing of ours',
    file: 'src/event-transfer/store.ts',
    good: './wire.js @eventstore/db-client node:crypto',
    bad: ['pg', '@grpc/grpc-js', 'google-protobuf', '../event-store/streams.js', '../domain/stored-event.js', '../cli/back-ends.js']
  },
  {
    zone: 'postgres imports pg and the migrator, and nothing of ours',
    file: 'src/postgres/pool.ts',
    good: './transaction.js pg node-pg-migrate node:path',
    bad: ['../domain/rejection.js', '../event-store/streams.js', 'bullmq']
  },
  {
    zone: 'subscriptions stand on domain, event-store and postgres',
    file: 'src/subscriptions/run.ts',
    good: './lease.js ../domain/decider.js ../event-store/subscribe.js ../postgres/pool.js pg node:events',
    bad: ['../../projections/leads.js', '../../workers/dispatch/dispatch.js', '../recovery/marker.js', '@eventstore/db-client', 'node-pg-migrate']
  },
  {
    zone: 'embedded imports none of our other code',
    file: 'src/embedded/event-store/server.ts',
    good: '../postgres.js @grpc/grpc-js @eventstore/db-client pg',
    bad: ['../../postgres/pool.js', '../../config.js', '../../domain/decider.js', 'fastify']
  },
  {
    zone: 'commands import handle-command, domain, finders and Fastify',
    file: 'src/commands/create-lead.ts',
    good: '../command-handling/handle-command.js ../domain/lead/decide.js ../../projections/leads.js ../http/authenticate.js fastify typebox',
    bad: ['pg', '@eventstore/db-client', '../event-store/streams.js', '../postgres/pool.js', '../../workers/deliveries/deliveries.js', '../composition/roles.js']
  },
  {
    zone: 'queries import domain, finders and Fastify',
    file: 'src/queries/list-leads.ts',
    good: '../domain/lead/summary.js ../../projections/leads.js fastify @fastify/type-provider-typebox',
    bad: ['pg', 'ioredis', '../../workers/deliveries/deliveries.js', '../../workers/start.js']
  },
  {
    zone: 'http holds the Fastify plugins and reaches no back end',
    file: 'src/http/authenticate.ts',
    good: 'fastify @fastify/jwt jose ../config.js',
    bad: ['pg', 'bullmq', '../event-store/streams.js', '../../projections/leads.js']
  },
  {
    zone: 'composition imports everything but embedded',
    file: 'src/composition/connections.ts',
    good: '../app.js ../event-store/streams.js ../../projections/leads.js ../../workers/queue/queue.js @eventstore/db-client bullmq pg',
    bad: ['../embedded/postgres.js', '../main.js']
  },
  {
    zone: 'main never loads embedded by a static import',
    file: 'src/main.ts',
    good: './composition/roles.js ./config.js commander close-with-grace',
    bad: ['./embedded/postgres.js', '@eventstore/db-client', 'fastify']
  },
  {
    zone: 'command-handling stays clear of workers, embedded, queue and HTTP',
    file: 'src/command-handling/handle-command.ts',
    good: '../domain/decider.js ../event-store/streams.js uuidv7',
    bad: ['../../workers/queue/queue.js', '../embedded/postgres.js', 'bullmq', 'undici', 'fastify', '@grpc/grpc-js']
  },
  {
    zone: 'projections never import workers',
    file: 'projections/leads.ts',
    good: './engine/run.js ../src/domain/lead/evolve.js ../src/subscriptions/run.js ../src/event-store/subscribe.js ../src/postgres/pool.js pg',
    bad: ['../workers/deliveries/deliveries.js', '../src/commands/create-lead.js', 'bullmq', 'undici', 'fastify']
  },
  {
    zone: 'the commands that replay never import workers',
    file: 'src/cli/projections.ts',
    good: '../../projections/replay/replay.js ../composition/projector.js cli-table3',
    bad: ['../../workers/deliver/post.js', '../../workers/operate/audit.js', 'undici', 'bullmq']
  },
  {
    zone: 'workers never import projections',
    file: 'workers/dispatch/dispatch.ts',
    good: '../deliveries/deliveries.js ../../src/domain/call/events.js ../../src/subscriptions/run.js ../../src/event-store/subscribe.js pg',
    bad: ['../../projections/leads.js', '../../src/composition/roles.js', 'bullmq', 'ioredis', 'undici', 'standardwebhooks', 'fastify']
  },
  { zone: 'the queue client lives in queue', file: 'workers/queue/queue.ts', good: 'bullmq ioredis', bad: ['undici', 'standardwebhooks'] },
  { zone: 'the signer lives in sign', file: 'workers/deliver/sign.ts', good: 'standardwebhooks', bad: ['undici', 'bullmq'] },
  { zone: 'the receivers of the guide verify with the package', file: 'docs/webhooks/receiver.ts', good: 'standardwebhooks node:http', bad: ['undici', '../../workers/deliver/sign.js'] },
  { zone: 'the HTTP client lives in post', file: 'workers/deliver/post.ts', good: 'undici ./guard.js', bad: ['standardwebhooks', 'ipaddr.js'] },
  { zone: 'the HTTP client lives in guard', file: 'workers/deliver/guard.ts', good: 'undici ipaddr.js', bad: ['bullmq', '../../projections/calls.js'] },
  { zone: 'other tests take the stack from support', file: 'test/flow/journey.test.ts', good: '../support/stack.js fastify undici bullmq pg', bad: ['../../src/embedded/postgres.js'] }
]

for (const { zone, file, good, bad } of cases) {
  t.test(zone, async (t) => {
    for (const name of good.split(' ')) t.same(await refused(file, `import '${name}'`), [], `${file} may import ${name}`)
    for (const name of bad) t.same(await refused(file, `import '${name}'`), ['house/zones'], `${file} may not import ${name}`)
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
    "export const pg = require('pg')",
    "import '../../../node_modules/pg/lib/index.js'",
    "import './../lead/../../postgres/pool.js'",
    'export const load = (name: string) => import(name)'
  ]) t.ok((await refused('src/domain/lead/decide.ts', text)).includes('house/zones'), text)
})

t.test('the command line loads embedded only when it is needed', async (t) => {
  for (const [file, embedded] of [['src/main.ts', './embedded'], ['src/cli/start.ts', '../embedded']] as const) {
    t.same(await refused(file, `export const load = () => import('${embedded}/postgres.js')`), [])
    t.same(await refused(file, `import type { Stack } from '${embedded}/postgres.js'\nexport type Started = Stack`), [])
    t.same(await refused(file, `import { type Stack } from '${embedded}/postgres.js'\nexport type Started = Stack`), ['house/zones'])
  }
  t.same(await refused('src/composition/connections.ts', "export const load = () => import('../embedded/postgres.js')"), ['house/zones'])
  t.same(await refused('test/support/stack.ts', "import '../../src/embedded/postgres.js'"), [])
})
