// Makes of each program that runs on its own one module, and others of what several of them share or load when needed:
// to find and open hundreds of modules takes a process longer than to run them.
import { existsSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { buildInPlace } from './write.js'

/** What a process is started with. */
const sources = [
  'src/main.ts',
  'src/services/action-process.ts',
  'packages/embedded-event-store/src/process.ts',
  'packages/embedded-postgres/src/postgres-supervisor.ts'
]

const names = sources.map((source) => basename(source, '.ts'))
/** A program is started by the module that lies beside its source. The other URLs are of what the package holds. */
const urls = new RegExp(`new URL\\('\\./(?:${names.join('|')})\\.js', import\\.meta\\.url\\)|import\\.meta\\.url`, 'g')

/**
 * Writes them to `dist/programs/` below `root`. `common` are options for esbuild; `importOf` tells what a package is
 * imported as by the modules there.
 */
export async function bundlePrograms (root, common, importOf) {
  const outdir = join(root, 'dist/programs')
  const setup = (build) => {
    build.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      path.startsWith('@ringledger/') ? undefined : { path: importOf(path, outdir), external: true })
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => ({ contents: inPlace(path, root, outdir), loader: 'ts' }))
  }
  await buildInPlace({
    ...common,
    entryPoints: sources.map((source) => join(root, source)).filter((source) => existsSync(source)),
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    outdir,
    splitting: true,
    sourcemap: true,
    sourcesContent: false,
    conditions: ['ringledger:source'],
    plugins: [{ name: 'programs', setup }]
  })
}

/** A module finds what it looks for as if it lay where it is compiled to alone. */
function inPlace (path, root, outdir) {
  const [, place, rest] = /^(packages\/[^/]+\/)?(.*)\.ts$/.exec(relative(root, path))
  const own = relative(outdir, join(root, place ?? '', 'dist', `${rest}.js`))
  return readFileSync(path, 'utf8').replace(urls, (url) => url === 'import.meta.url' ? `new URL('${own}', ${url}).href` : url)
}
