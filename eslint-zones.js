// What may import what: the two tables of the house, and the lint rule that holds every file to them.
import { dirname, relative, resolve } from 'node:path'

const root = import.meta.dirname
const WEB = ['fastify', 'fastify-plugin', '@fastify/*']

// The first row that fits a file counts. `ours` are paths of this repository, `packages` are names of
// packages, `**` is any. Type imports count like others: a type is a dependency too.
export const zones = [
  { files: 'src/domain/**', ours: ['src/domain/**'], packages: ['typebox'] },
  { files: 'src/event-store/**', ours: ['src/event-store/**', 'src/domain/**'], packages: ['node:*', '@eventstore/db-client'] },
  { files: 'src/event-transfer/**', ours: ['src/event-transfer/**'], packages: ['node:*', '@eventstore/db-client'] },
  { files: 'src/postgres/**', ours: ['src/postgres/**'], packages: ['node:*', 'pg', 'node-pg-migrate'] },
  {
    files: 'src/subscriptions/**',
    ours: ['src/{subscriptions,domain,event-store,postgres}/**'],
    packages: ['node:*', 'pg']
  },
  {
    files: 'src/recovery/**',
    ours: ['src/{recovery,subscriptions,domain,event-store,postgres}/**'],
    packages: ['node:*', 'pg']
  },
  {
    files: 'src/command-handling/**',
    ours: ['src/{command-handling,domain,event-store,postgres}/**', 'src/*.ts', 'projections/**'],
    packages: ['node:*', 'pg', 'uuidv7']
  },
  { files: 'src/embedded/**', ours: ['src/embedded/**'], packages: ['**'] },
  { files: 'src/{commands,queries}/**', ours: ['src/{commands,queries,domain,http,command-handling}/**', 'src/*.ts', 'projections/**'], packages: ['node:*', 'typebox', ...WEB] },
  { files: 'src/http/**', ours: ['src/{http,domain,command-handling}/**', 'src/*.ts'], packages: ['**'] },
  { files: 'src/composition/**', ours: ['**'], packages: ['**'] },
  { files: 'src/cli/{projections,quarantine}.ts', ours: ['src/**', 'projections/**'], packages: ['**'] },
  { files: 'src/{main.ts,cli/**}', ours: ['**'], packages: ['**'] },
  {
    files: 'src/**',
    ours: ['src/**', 'projections/**', 'package.json'],
    packages: ['**']
  },
  {
    files: 'projections/**',
    ours: ['projections/**', 'src/{domain,event-store,subscriptions,recovery,postgres}/**'],
    packages: ['node:*', 'pg']
  },
  {
    files: 'workers/**',
    ours: ['workers/**', 'src/{domain,event-store,subscriptions,recovery,postgres}/**'],
    packages: ['node:*', 'pg', 'bullmq', 'ioredis', 'standardwebhooks', 'undici', 'ipaddr.js']
  },
  { files: '**', ours: ['**'], packages: ['**'] }
]

// What stays behind one door: only these files may import it, whatever their zone allows besides.
// `only: 'dynamic'` asks for `import()`, so that a process that does not need the part never loads it.
const TRIED = ['test/**', 'bench/**']
const COMMAND_LINE = ['src/main.ts', 'src/cli/**']
export const doors = [
  { to: '@eventstore/db-client', from: ['src/{event-store,event-transfer}/**', 'src/composition/connections.ts', 'src/embedded/event-store/**', ...TRIED] },
  { to: '{@grpc/grpc-js,google-protobuf}', from: ['src/embedded/event-store/**', ...TRIED] },
  { to: '{pg,node-pg-migrate}', from: ['src/{postgres,subscriptions,recovery,command-handling,embedded,composition}/**', 'src/*.ts', 'src/cli/**', 'projections/**', 'workers/**', ...TRIED] },
  { to: '{bullmq,ioredis}', from: ['workers/queue/queue.ts', 'src/composition/**', ...TRIED] },
  { to: 'undici', from: ['workers/deliver/{post,stale,guard}.ts', 'src/composition/**', ...TRIED] },
  { to: 'ipaddr.js', from: ['workers/deliver/guard.ts', 'src/composition/**', ...TRIED] },
  { to: 'standardwebhooks', from: ['workers/deliver/sign.ts', 'src/cli/demo/**', 'docs/webhooks/**', ...TRIED] },
  { to: '{fastify,fastify-plugin,@fastify/*}', from: ['src/{commands,queries,http}/**', 'src/{app,errors}.ts', 'src/composition/**', ...TRIED] },
  { to: 'workers/**', from: ['workers/**', 'src/composition/**', ...COMMAND_LINE, ...TRIED] },
  { to: 'src/composition/**', from: ['src/composition/**', ...COMMAND_LINE, ...TRIED] },
  { to: 'src/app.ts', from: ['src/composition/**', ...COMMAND_LINE, ...TRIED] },
  { to: 'src/main.ts', from: ['bin/**', ...TRIED] },
  { to: 'src/embedded/**', from: ['src/embedded/**', 'test/{support,embedded}/**', 'bench/**'] },
  { to: 'src/embedded/**', from: COMMAND_LINE, only: 'dynamic' }
]

/** The ESLint rule: reports an import that its file's zone or the target's door does not allow. */
export const zonesRule = {
  meta: { type: 'problem', schema: [], messages: { zone: '{{file}} may not import {{target}} ({{where}} in eslint-zones.js).' } },
  create (context) {
    const file = relative(root, context.filename)
    const check = (node, source, isLoaded = true) => {
      const target = targetOf(source, context.filename)
      const where = refusal(file, target, node.type === 'ImportExpression' || !isLoaded)
      if (where) context.report({ node, messageId: 'zone', data: { file, target: target.name, where } })
    }
    return {
      ImportDeclaration: (node) => check(node, node.source, node.importKind !== 'type'),
      ExportNamedDeclaration: (node) => node.source && check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
      TSImportType: (node) => check(node, node.source, false),
      TSExternalModuleReference: (node) => check(node, node.expression),
      'CallExpression[callee.name="require"]': (node) => check(node, node.arguments[0])
    }
  }
}

function targetOf (source, importer) {
  const name = source?.value
  if (typeof name !== 'string') return { kind: 'packages', name: '(a computed name)' }
  if (!/^\.{0,2}\//.test(name)) return { kind: 'packages', name: packageOf(name) }
  const path = relative(root, resolve(dirname(importer), name))
  return { kind: 'ours', name: importer.endsWith('.ts') ? path.replace(/\.js$/, '.ts') : path }
}

const packageOf = (name) => name.split('/').slice(0, name.startsWith('@') ? 2 : 1).join('/')

function refusal (file, target, isDynamic) {
  const zone = zones.find(({ files }) => fits(files, file))
  if (!zone[target.kind].some((pattern) => fits(pattern, target.name))) return `zone ${zone.files}`
  const doorsOfTarget = doors.filter(({ to }) => fits(to, target.name))
  const isOpen = ({ from, only }) => from.some((pattern) => fits(pattern, file)) && (isDynamic || only !== 'dynamic')
  return doorsOfTarget.length > 0 && !doorsOfTarget.some(isOpen) ? `door ${doorsOfTarget[0].to}` : undefined
}

// `*` stays inside one part of a path, `**` does not; `{a,b}` is a choice.
function fits (pattern, name) {
  const source = pattern.replace(/[.+]/g, '\\$&').replace(/\*+/g, (stars) => stars === '*' ? '[^/]*' : '.*')
    .replace(/\{([^}]*)\}/g, (_, choices) => `(?:${choices.replaceAll(',', '|')})`)
  return new RegExp(`^${source}$`).test(name)
}
