// A case for each import rule of the packages.

/** A rule, a file that it holds for, and the imports that pass there and those that are refused. */
export interface ImportCase { rule: string, file: string, good: string, bad: string }

export const packageCases: ImportCase[] = [
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
