// A case for each row of the import rules, .dependency-cruiser.js.

import { type ImportCase, packageCases } from './package-import-cases.js'

export const importCases: ImportCase[] = [
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
