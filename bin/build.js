// Makes dist/ from the sources: a module of JavaScript for each of TypeScript, and one for each package that they use.
// A package is many files; as one, it lets a process start in half of the time. Types are for `npm run check`.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleConsole } from './console.js'
import { bundlePrograms } from './programs.js'
import { buildInPlace } from './write.js'

/** What stays in node_modules, because it finds files beside its own. */
const inPlace = ['@fastify/swagger-ui', '@fastify/static']

/** So does what few processes load, which are slower to bundle than to load. */
const isRare = (name) => name.startsWith('@opentelemetry/')

/** Below the checkout, and below each of its packages. */
const sourceFolders = { own: ['src', 'projections', 'workers', 'bench', 'test', 'docs/webhooks', 'docs/call-engine', 'docs/asyncapi', 'docs/site', 'examples'], packages: ['src', 'test'] }

/** Names are kept, because errors are told by theirs. */
const common = { bundle: true, keepNames: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' }

/** A process keeps the text of what it has loaded. Lines stay short for traces of the stack. */
const small = { minifyWhitespace: true, lineLimit: 120, legalComments: 'none' }

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const packages = bundledPackages()
const vendor = join(root, 'dist/vendor', versionsOf())

/** What test files get as `tap`, since one process runs several of them. */
const ownTest = join(root, 'dist/test/run/own-test.js')

try {
  const console = bundleConsole(root)
  await bundle(await transpile())
  await bundlePrograms(root, common, importOf)
  await console
  removeUnused()
  writeFileSync(join(root, 'dist/.built'), '')
} catch (error) {
  if (!error.errors) throw error
  process.exitCode = 1 // what is wrong, and where, was printed
}

/** Writes each module beside those of its folder. @returns what they import of the packages that are bundled */
async function transpile () {
  const imported = new Set()
  const resolve = ({ kind, path, importer }) => {
    if (kind === 'entry-point') return undefined
    const from = (file) => ({ path: importPath(dirname(compiled.get(importer)), file), external: true })
    if (path === 'tap' && importer.endsWith('.test.ts')) return from(ownTest)
    if (!isBundled(path)) return { path, external: true }
    imported.add(path)
    return from(bundleOf(path))
  }
  const entryPoints = modules()
  const compiled = new Map(entryPoints.map((entry) => [entry.in, join(root, entry.out)]))
  const plugins = [{ name: 'imports', setup: (build) => { build.onResolve({ filter: /./ }, resolve) } }]
  await buildInPlace({ ...common, entryPoints, outdir: root, sourcemap: true, sourcesContent: false, plugins })
  return [...imported].sort()
}

/** Bundles what is imported of packages, what they share into files of its own. */
async function bundle (imported) {
  if (imported.every((path) => existsSync(bundleOf(path)))) return
  const names = new Map(imported.map((path) => [wholeOf(path), path]))
  const entryPoints = [...names].map(([file, path]) => ({ in: file, out: basename(bundleOf(path), '.js') }))
  const setup = (build) => {
    build.onResolve({ filter: /./ }, ({ path, kind }) => kind === 'entry-point' ? { path } : undefined)
    build.onLoad({ filter: /\.whole\.mjs$/ }, async ({ path }) => ({ contents: await whole(names.get(path)), resolveDir: root }))
    build.onLoad({ filter: /[/\\]pg[/\\]lib[/\\]stream\.js$/ }, ({ path }) => ({ contents: onNode(path) }))
  }
  const banner = { js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);" }
  const external = [...inPlace, 'pg-native']
  await buildInPlace({ ...common, ...small, entryPoints, outdir: vendor, splitting: true, external, banner, plugins: [{ name: 'whole', setup }] })
}

/** Without a `navigator`, as on Node 20, pg makes a `Response` to know where it runs: Node loads fetch for that. */
function onNode (path) {
  return `const navigator = { userAgent: 'Node.js' }\n${readFileSync(path, 'utf8')}`
}

/** No file: what it would hold is `whole`. By its extension, esbuild imports as Node does. */
function wholeOf (path) {
  return bundleOf(path).replace(/\.js$/, '.whole.mjs')
}

/** A module that exports all that a package does. Of one that is no ES module, node alone tells the names. */
async function whole (path) {
  const names = Object.keys(await import(path)).filter((name) => name !== 'module.exports')
  return `export { ${names.join(', ')} } from '${path}'`
}

function bundledPackages () {
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.keys(dependencies).filter((name) => !name.startsWith('@ringledger/') && !isRare(name) && !inPlace.includes(name))
}

function isBundled (path) {
  return packages.some((name) => path === name || path.startsWith(`${name}/`))
}

/** What a package is imported as by modules in `folder`. */
function importOf (path, folder) {
  return isBundled(path) ? importPath(folder, bundleOf(path)) : path
}

/** A command that runs may still load from what was made an hour ago. */
function removeUnused () {
  const made = [dirname(vendor), join(root, 'dist/programs')].filter((folder) => existsSync(folder))
  const paths = made.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  const isOld = (path) => path !== vendor && Date.now() - statSync(path).mtimeMs > 3_600_000
  for (const path of paths.filter(isOld)) rmSync(path, { recursive: true, force: true })
}

/** Changes with the packages and with how they are bundled. */
function versionsOf () {
  const names = ['package-lock.json', 'bin/build.js', 'bin/write.js']
  const files = names.map((name) => join(root, name)).filter((file) => existsSync(file))
  const hash = files.reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256'))
  return hash.digest('hex').slice(0, 12)
}

function bundleOf (path) {
  return join(vendor, `${path.replaceAll('/', '__').replace(/\.js$/, '')}.js`)
}

function importPath (from, to) {
  return relative(from, to).split(sep).join('/').replace(/^(?!\.)/, './')
}

function modules () {
  const all = existsSync(join(root, 'packages')) ? readdirSync(join(root, 'packages')) : []
  const own = all.filter((name) => name !== 'console') // which browsers load, not node
  return [
    ...entriesIn(root, sourceFolders.own),
    ...own.flatMap((name) => entriesIn(join(root, 'packages', name), sourceFolders.packages, join('packages', name)))
  ]
}

function entriesIn (place, folders, below = '') {
  return folders.filter((folder) => existsSync(join(place, folder))).flatMap((folder) =>
    readdirSync(join(place, folder), { recursive: true })
      .filter((path) => path.endsWith('.ts') && !path.includes('node_modules'))
      .map((path) => ({ in: join(place, folder, path), out: join(below, 'dist', folder, path.slice(0, -3)) })))
}
