// What may import what: a room imports the rooms that its row names, and a package only behind its door.
// Type imports count like others: a type is a dependency too.

const WEB = ['fastify', 'fastify-plugin', '@fastify/[^/]+']

// A feature is pure but for its routes: its events and its model import each other, the kernel and typebox.
const MODEL = 'src/features/[^/]+/(?!routes|import)[^/]+[.]ts'
const DOMAIN = ['src/domain', MODEL]
const POSITIONS = 'projections/engine/positions[.]ts'
const LOG = [...DOMAIN, 'src/log', 'src/timing[.]ts']
/** The record that every part takes its services from: its type is free to all who name it. */
const SERVICES = 'src/services/services[.]ts'

// `ours` are rooms and files of this repository, `packages` are names of packages; both are regular expressions.
const rooms = {
  'src/domain': { ours: DOMAIN, packages: ['typebox'], isPure: true },
  [MODEL]: { ours: DOMAIN, packages: ['typebox'], isPure: true },
  'src/timing[.]ts': { ours: [], packages: [] },
  'src/log': { ours: [...DOMAIN, 'src/timing[.]ts'], packages: ['@eventstore/db-client', '@ringledger/event-transfer'] },
  'src/tracing': { ours: [], packages: ['@opentelemetry/[^/]+'] },
  'src/postgres': { ours: ['src/timing[.]ts'], packages: ['pg'] },
  'src/subscriptions': { ours: [...LOG, 'src/postgres', 'src/tracing'], packages: ['pg'] },
  'src/recovery': { ours: [...LOG, 'src/postgres', 'src/subscriptions'], packages: ['pg'] },
  'src/privacy': { ours: [...LOG, 'src/postgres'], packages: ['pg', 'p-limit', 'lru-cache', 'dataloader'] },
  'src/commands': { ours: [...LOG, 'src/postgres', 'src/tracing', 'src/privacy/sealed-text[.]ts'], packages: ['pg', 'lru-cache'] },
  'src/http': {
    ours: [
      ...DOMAIN, 'src/(commands|tracing)', 'src/(config|errors|package-root|text-files|timing)[.]ts', 'src/log/errors[.]ts',
      'src/postgres/page[.]ts', POSITIONS
    ],
    packages: [...WEB, 'typebox', 'ajv', 'ajv-formats', 'jose', 'pino', 'prom-client', 'csv-parse']
  },
  'src/features': {
    ours: [
      ...DOMAIN, 'src/(http|commands)', 'src/postgres/(page|transaction)[.]ts', 'src/package-root[.]ts', SERVICES,
      'projections/[^/]+[.]ts', POSITIONS, 'workers/(deliver|deliveries|imports|operate|persons|work)'
    ],
    packages: [...WEB, 'typebox']
  },
  'src/ops': {
    ours: [
      ...LOG, 'src/(http|postgres|recovery|subscriptions)', 'src/(errors|package-root)[.]ts', SERVICES, 'projections',
      'src/features/webhooks/outcome[.]ts', 'workers/(deliveries|dispatch|operate|work)'
    ],
    packages: [...WEB, 'typebox', 'pg']
  },
  projections: {
    ours: [...LOG, 'src/(subscriptions|postgres)'],
    packages: ['pg', 'lru-cache']
  },
  workers: {
    ours: [
      ...LOG, 'src/(commands|privacy|subscriptions|recovery|postgres|tracing)', 'src/features/leads/import[.]ts', SERVICES,
      'projections'
    ],
    packages: ['pg', 'bullmq', 'ioredis', 'undici', 'ipaddr.js', 'lru-cache']
  },
  'src/services/embedded': { ours: [], packages: ['@ringledger/embedded-[^/]+'] },
  'packages/embedded-postgres/src': { ours: [], packages: ['pg', 'tar'] },
  'packages/embedded-event-store/src': {
    ours: [],
    packages: ['pg', '@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf', 're2js', 'lru-cache', '@ringledger/embedded-postgres']
  },
  'packages/event-transfer/src': { ours: [], packages: ['@eventstore/db-client'] },
  'packages/client/src': { ours: [], packages: ['openapi-fetch', 'standardwebhooks'] },
  'packages/console/src': {
    ours: [],
    packages: ['@mantine/[^/]+', '@ringledger/client', '@tanstack/react-query', 'react', 'react-dom', 'react-router'],
    isPure: true
  }
}

// Only these files may import a package, whatever their room allows. `except: 'dynamic'` leaves `import()`, so that a
// process that does not need the part never loads it, and types, which load nothing; `except: 'type'` leaves types.
const TRIED = ['test', 'bench', 'packages/[^/]+/test']
const COMMAND_LINE = ['src/main[.]ts', 'src/cli']
const EMBEDDED = '@ringledger/embedded-[^/]+'
const doors = [
  { to: { package: '@eventstore/db-client' }, from: ['src/log', 'packages', 'docs/call-engine', 'examples', ...TRIED] },
  { to: { package: '(@grpc/grpc-js|google-protobuf)' }, from: ['packages/embedded-event-store', ...TRIED] },
  { to: { package: 're2js' }, from: ['packages/embedded-event-store', ...TRIED] },
  { to: { package: '@opentelemetry/[^/]+' }, from: ['src/tracing/open-telemetry[.]ts', ...TRIED] },
  { to: { ours: 'src/tracing/open-telemetry[.]ts' }, from: ['src/cli/serve[.]ts', ...TRIED] },
  { to: { ours: 'src/tracing/open-telemetry[.]ts' }, notFrom: ['src/cli'], except: 'dynamic' },
  { to: { package: 'bullmq' }, from: ['workers/queue/(queue|back-end|postgres|redis)[.]ts', ...TRIED] },
  { to: { package: 'ioredis' }, from: ['workers/queue/redis[.]ts', 'src/services', 'src/cli/doctor/back-ends[.]ts', ...TRIED] },
  { to: { package: 'undici' }, from: ['workers/deliver/(post|guard|connections)[.]ts', ...TRIED] },
  { to: { package: 'ipaddr.js' }, from: ['workers/deliver/guard[.]ts', 'src/config[.]ts', ...TRIED] },
  { to: { package: 'csv-parse' }, from: ['src/http/csv[.]ts', ...TRIED] },
  { to: { package: 'standardwebhooks' }, from: ['src/cli/journey[.]ts', 'docs/webhooks', 'packages/client', ...TRIED] },
  { to: { package: '(fastify|fastify-plugin|@fastify/[^/]+)' }, from: ['src/(features|http|ops)', 'src/(app|errors)[.]ts', ...TRIED] },
  { to: { ours: 'workers' }, from: ['workers', 'src/(features|ops|services)', ...COMMAND_LINE, ...TRIED] },
  { to: { ours: 'workers' }, notFrom: ['src/cli/projections[.]ts'] },
  { to: { ours: 'workers/(deliver|queue|operate)' }, notFrom: ['src/cli/quarantine[.]ts'] },
  { to: { ours: SERVICES }, from: ['src/services', ...COMMAND_LINE, ...TRIED], except: 'type' },
  { to: { ours: 'src/services/(?!services[.]ts).+[.]ts' }, from: ['src/services', ...COMMAND_LINE, ...TRIED] },
  { to: { ours: 'src/app[.]ts' }, from: ['src/services', ...COMMAND_LINE, ...TRIED] },
  { to: { ours: 'src/main[.]ts' }, from: ['bin', ...TRIED] },
  { to: { package: EMBEDDED }, from: ['src/services/embedded', 'src/services/generated-secrets[.]ts', 'packages', ...COMMAND_LINE, ...TRIED] },
  { to: { package: EMBEDDED }, notFrom: COMMAND_LINE, except: 'dynamic' },
  { to: { ours: 'src/services/embedded' }, from: ['src/services/embedded', ...COMMAND_LINE, ...TRIED] },
  { to: { ours: 'src/services/embedded' }, notFrom: COMMAND_LINE, except: 'dynamic' },
  { to: { package: 'openapi-fetch' }, from: ['packages/client'] },
  { to: { package: '@ringledger/client' }, from: ['packages/(client|console)', ...TRIED] },
  { to: { package: '@ringledger/event-transfer' }, from: ['src/cli', 'src/log/connection[.]ts', 'packages/event-transfer', ...TRIED] }
]

/** The paths of a room, or of loose files, as a regular expression. */
const place = (path) => path.endsWith('[.]ts') ? `^${path}$` : `^${path}/`

const inPackage = (name) => name.startsWith('@ringledger/')
  ? `(^|/)packages/${name.slice('@ringledger/'.length)}/` // where the link in node_modules leads
  : `(^|/)node_modules/(@types/)?${name}/|^${name}(/|$)`

const roomRules = Object.entries(rooms).map(([room, { ours, packages, isPure = false }]) => ({
  name: `room ${room}`,
  comment: `${room} imports ${[...ours, ...packages].join(', ') || 'nothing'} and itself.`,
  severity: 'error',
  from: { path: place(room) },
  to: {
    pathNot: [place(room), ...ours.map(place), ...packages.map(inPackage)],
    ...(!isPure && { dependencyTypesNot: ['core'] })
  }
}))

const doorRules = doors.map(({ to, from, notFrom, except }) => ({
  name: `door ${to.package ?? to.ours}`,
  comment: from ? `Only ${from.join(', ')} may import it.` : `${notFrom.join(', ')} may not import it${except ? ' at start' : ''}.`,
  severity: 'error',
  from: from ? { pathNot: from.map(place) } : { path: notFrom.map(place) },
  to: {
    path: to.package ? inPackage(to.package) : place(to.ours),
    ...(except && { dependencyTypesNot: ['type-only'] }),
    ...(except === 'dynamic' && { dynamic: false })
  }
}))

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: 'no circle', comment: 'A file can be read without the files that need it.', severity: 'error', from: {}, to: { circular: true } },
    { name: 'found', comment: 'Every import leads to a file.', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'packages alone',
      comment: 'A package knows nothing of the service.',
      severity: 'error',
      from: { path: '^packages/' },
      to: { path: '^(bin|src|projections|workers|bench|test)/' }
    },
    {
      name: 'by name',
      comment: 'A package is imported by its name, through its entries.',
      severity: 'error',
      from: { path: '^(packages/[^/]+|[^/]+)/' },
      to: { path: '^packages/', pathNot: '^$1/', dependencyTypes: ['local'], dependencyTypesNot: ['aliased-workspace'] }
    },
    {
      name: 'a feature alone',
      comment: 'The tests of a feature import that feature and what all tests share.',
      severity: 'error',
      from: { path: '^test/features/([^/]+)/' },
      to: { path: '^(src|projections|workers|bench|test)/', pathNot: '^(src/features/$1|test/features/$1|test/support)/' }
    },
    ...roomRules,
    ...doorRules
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|docs|packages/[^/]+/dist|bench/peers/(service|emmett-[^/]+))/' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['ringledger:source', 'import', 'node', 'default', 'types'] }
  }
}
