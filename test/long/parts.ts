// What takes too long for `npm test`: kill points, chaos, properties at length, a million rows, soak, other Nodes.

export interface Part {
  name: string
  /** Test files and folders, or a program of this repository with its arguments. */
  files?: string[]
  program?: string[]
  /** Only the tests whose titles match. */
  grep?: string
  env?: Record<string, string>
  /** Folders and files of the source: who changes one runs the part before it lands. */
  guards: string[]
  /** At most, on two quiet cores. */
  minutes: number
}

export const mostMinutes = { ofOne: 45, ofAll: 300 }

const flow = (...names: string[]) => names.map((name) => `test/flow/${name}`)
const workers = (...names: string[]) => names.map((name) => `test/workers/${name}`)

export const parts: Part[] = [
  {
    name: 'event-store',
    files: ['chaos', 'model'].map((name) => `packages/embedded-event-store/test/${name}.test.ts`),
    env: { CHAOS_ROUNDS: '60' },
    guards: ['packages/embedded-event-store/src', 'packages/embedded-postgres/src'],
    minutes: 10
  },
  {
    name: 'webhooks',
    files: flow('webhooks/webhook-chaos.test.ts'),
    env: { CHAOS_ROUNDS: '30' },
    guards: ['workers/dispatch', 'workers/queue', 'workers/deliver', 'workers/deliveries', 'src/subscriptions'],
    minutes: 20
  },
  {
    name: 'kill',
    files: flow('kill.test.ts', 'rolling-restart.test.ts', 'commands/concurrency.test.ts', 'commands/read-your-write.test.ts'),
    guards: ['src/command-handling', 'src/composition', 'src/event-store', 'src/subscriptions', 'projections/engine'],
    minutes: 15
  },
  {
    name: 'copy',
    files: ['test/cli/events/kill.test.ts', 'packages/event-transfer/test/export.test.ts'],
    guards: ['packages/event-transfer/src', 'src/cli/events'],
    minutes: 5
  },
  {
    name: 'queue',
    files: workers('queue/killed.test.ts', 'queue/emptied.test.ts', 'queue/fairness.test.ts', 'stranded.test.ts'),
    guards: ['workers/queue', 'workers/deliver', 'workers/background'],
    minutes: 15
  },
  {
    name: 'outcomes',
    files: workers('deliver/kept-outcomes.test.ts'),
    guards: ['workers/deliver', 'src/postgres'],
    minutes: 15
  },
  {
    name: 'imports',
    files: ['test/flow/imports/killed-imports.test.ts', 'test/flow/imports/import-scale.test.ts'],
    guards: ['src/http/imports', 'workers/imports', 'src/commands/lead'],
    minutes: 20
  },
  {
    name: 'persons',
    files: flow('person/killed-steps.test.ts', 'person/killed-erasures.test.ts', 'person/erased-histories.test.ts'),
    guards: ['src/sealing', 'workers/background', 'src/domain/person'],
    minutes: 25
  },
  {
    name: 'persons-generations',
    files: flow('person/generations', 'person/at-once/asked-again.test.ts'),
    guards: ['src/sealing', 'projections/engine', 'projections/generations', 'projections/replay'],
    minutes: 20
  },
  {
    name: 'persons-at-once',
    files: flow('person/at-once/two-erasures.test.ts'),
    guards: ['src/sealing', 'workers/background', 'src/domain/person'],
    minutes: 25
  },
  {
    name: 'projections',
    files: ['killed', 'model'].map((name) => `test/projections/engine/${name}.test.ts`),
    guards: ['projections/engine', 'projections/folding', 'src/subscriptions'],
    minutes: 15
  },
  {
    name: 'replay',
    files: ['test/projections/replay/replay-kill.test.ts'],
    guards: ['projections/replay', 'projections/generations', 'projections/engine'],
    minutes: 20
  },
  { name: 'fuzz', files: ['test/http/fuzz'], guards: ['src/http', 'src/commands', 'src/queries'], minutes: 20 },
  {
    name: 'plans',
    files: ['own-plans', 'plans'].map((name) => `test/queries/${name}.test.ts`),
    env: { PLAN_ROWS: '1000000' },
    guards: ['src/queries', 'migrations', 'projections/catalog'],
    minutes: 20
  },
  {
    name: 'deliveries',
    files: workers('deliver/no-growth.test.ts', 'queue/open-snapshot.test.ts'),
    guards: ['workers/deliver', 'workers/queue'],
    minutes: 15
  },
  {
    name: 'a-million-deliveries',
    files: workers('deliveries/moves.test.ts', 'deliveries/kept/disk.test.ts'),
    guards: ['workers/deliveries', 'migrations'],
    minutes: 25
  },
  { name: 'soak', program: ['dist/bench/soak.js', '--minutes', '5'], guards: ['src/http', 'src/composition'], minutes: 8 },
  { name: 'other-nodes', program: ['test/long/other-nodes.sh'], guards: ['package.json', 'bin', 'packages', 'Dockerfile'], minutes: 5 }
]
