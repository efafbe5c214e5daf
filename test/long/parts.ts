// What takes too long for `npm test`: kill points, chaos, properties at length, a million rows, soak, other Nodes.

export interface Part {
  name: string
  /** Test files and folders, or a program of this repository with its arguments. */
  files?: string[]
  program?: string[]
  env?: Record<string, string>
  /** Folders and files of the source: who changes one runs the part before it lands. */
  guards: string[]
  /** At most, on two quiet cores. */
  minutes: number
}

export const mostMinutes = { ofOne: 45, ofAll: 300 }

export const parts: Part[] = [
  {
    name: 'embedded',
    files: ['packages/embedded-event-store/test/long', 'packages/embedded-postgres/test/long'],
    guards: ['packages/embedded-event-store/src', 'packages/embedded-postgres/src'],
    minutes: 10
  },
  {
    name: 'kill',
    files: ['test/flow/kill.test.ts', 'test/long/kill'],
    env: { CHAOS_ROUNDS: '20' },
    guards: ['src/commands', 'src/services', 'src/log', 'src/http', 'src/subscriptions'],
    minutes: 7
  },
  {
    name: 'webhooks',
    files: ['test/long/webhooks'],
    guards: ['workers/dispatch', 'workers/queue', 'workers/deliver', 'workers/deliveries', 'src/subscriptions'],
    minutes: 18
  },
  {
    name: 'copy',
    files: ['test/long/copy', 'packages/event-transfer/test/long'],
    guards: ['packages/event-transfer/src', 'src/cli/events.ts'],
    minutes: 3
  },
  {
    name: 'queue',
    files: ['test/long/queue', 'test/workers/deliveries/sending.test.ts'],
    env: { RACES: 'all' },
    guards: ['workers/queue', 'workers/deliver', 'workers/deliveries', 'src/postgres'],
    minutes: 20
  },
  {
    name: 'deliveries',
    files: ['test/long/deliveries', 'test/workers/deliveries/races.test.ts'],
    env: { PENDING: '1000000', RACES: 'all' },
    guards: ['workers/deliveries', 'workers/queue', 'workers/operate', 'migrations'],
    minutes: 28
  },
  {
    name: 'imports',
    files: ['test/long/imports'],
    guards: ['src/http/csv.ts', 'workers/imports', 'workers/work', 'src/features/leads/import.ts'],
    minutes: 12
  },
  {
    name: 'persons-meanwhile',
    files: ['test/long/persons-meanwhile', 'test/privacy/rewrap.test.ts'],
    env: { RACES: 'all' },
    guards: ['src/privacy', 'workers/persons', 'workers/imports', 'src/features/persons'],
    minutes: 12
  },
  {
    name: 'persons-generations',
    files: ['test/long/persons-generations'],
    guards: ['workers/persons', 'projections/engine'],
    minutes: 7
  },
  {
    name: 'persons-odd',
    files: ['test/long/persons-odd'],
    guards: ['src/privacy', 'workers/persons', 'projections/persons.ts', 'src/features/persons'],
    minutes: 35
  },
  {
    name: 'projections',
    files: ['test/long/projections'],
    guards: ['projections', 'src/subscriptions'],
    minutes: 12
  },
  {
    name: 'properties',
    files: [
      'test/http/input/strict-bodies.test.ts', 'test/projections/engine/model.test.ts',
      'test/projections/engine/storable.test.ts', 'test/commands/phone-claims.test.ts',
      'test/workers/dispatch/at-once.test.ts', 'test/workers/dispatch/payload.test.ts',
      'packages/embedded-event-store/test/model.test.ts', 'packages/event-transfer/test/export.test.ts'
    ],
    env: { FUZZ_TIMES: '15' },
    guards: [
      'src/http', 'src/features', 'src/domain', 'src/commands', 'projections/engine', 'workers/dispatch',
      'packages/embedded-event-store/src'
    ],
    minutes: 20
  },
  {
    name: 'plans',
    files: ['test/long/plans', 'test/http/lists/pages-read.test.ts'],
    env: { PLAN_ROWS: '1000000' },
    guards: ['src/features', 'migrations', 'projections/catalog.ts'],
    minutes: 20
  },
  {
    name: 'outages',
    files: ['test/long/outages'],
    guards: ['src/services', 'src/log', 'src/http/edge.ts', 'src/postgres', 'src/commands', 'src/recovery', 'src/features/blacklist'],
    minutes: 7
  },
  {
    name: 'backup',
    files: ['test/long/backup'],
    guards: ['src/cli/backup.ts', 'src/services/embedded', 'packages/embedded-postgres/src', 'packages/event-transfer/src'],
    minutes: 5
  },
  {
    name: 'release',
    files: ['test/long/release'],
    guards: ['src/domain/events.ts', 'src/postgres', 'migrations', 'projections/engine'],
    minutes: 3
  },
  {
    name: 'docs',
    files: ['test/long/docs'],
    guards: ['docs/clients', 'docs/webhooks', 'docs/tutorial.md', 'docs/site', 'examples', 'src/cli/demo.ts', 'src/cli/journey.ts', 'src/http/docs'],
    minutes: 6
  },
  { name: 'recipes', files: ['test/long/recipes'], guards: ['docs/adding.md', 'src/features'], minutes: 12 },
  {
    name: 'ops',
    files: ['test/long/ops'],
    guards: ['src/ops', 'src/services/actions.ts'],
    minutes: 3
  },
  { name: 'console', files: ['test/long/console'], guards: ['packages/console/src', 'packages/client/src'], minutes: 5 },
  { name: 'bench', files: ['test/long/bench'], guards: ['bench'], minutes: 5 },
  { name: 'heap', files: ['test/long/heap'], guards: ['src/http/limits.ts', 'src/commands', 'src/log'], minutes: 2 },
  {
    name: 'hostile',
    files: ['test/long/hostile'],
    guards: ['src/http/limits.ts', 'src/http/exports.ts', 'src/http/csv.ts', 'src/features/imports'],
    minutes: 6
  },
  { name: 'deploy', files: ['test/long/deploy'], guards: ['deploy', 'Dockerfile', 'docker-compose.yml'], minutes: 1 },
  { name: 'soak', program: ['dist/bench/soak.js', '--minutes', '5'], guards: ['src/http', 'bench/soak'], minutes: 8 },
  { name: 'other-nodes', program: ['test/long/other-nodes.sh'], guards: ['package.json', 'bin', 'Dockerfile'], minutes: 6 }
]
