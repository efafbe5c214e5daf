// Bundles the pages of packages/console into dist/console/: modules with hashed names in `assets/`, each with a
// compressed twin, and the page that loads the first of them.
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { buildInPlace } from './write.js'

/** `root` is the folder of the checkout. */
export async function bundleConsole (root) {
  const home = join(root, 'packages/console')
  if (!existsSync(home)) return
  const outdir = join(root, 'dist/console/assets')
  // tap brings a React of its own, which the other packages would find first.
  const { resolve } = createRequire(join(home, 'package.json'))
  const alias = Object.fromEntries(['react', 'react-dom'].map((name) => [name, dirname(resolve(`${name}/package.json`))]))
  const { metafile, outputFiles } = await buildInPlace({
    entryPoints: { console: join(home, 'src/main.tsx') },
    absWorkingDir: root,
    alias,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"', 'import.meta.env': '{}' },
    conditions: ['ringledger:source'],
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    outdir,
    logLevel: 'warning'
  }, ({ path, contents }) => [{ path, contents }, { path: `${path}.gz`, contents: gzipSync(contents) }])
  const isStart = ([, { entryPoint }]) => entryPoint === 'packages/console/src/main.tsx' // pages are entries as well
  const [script, { cssBundle }] = Object.entries(metafile.outputs).find(isStart)
  const page = readFileSync(join(home, 'index.html'), 'utf8')
    .replace('console.js', basename(script))
    .replace('console.css', basename(cssBundle))
  writeFileSync(join(root, 'dist/console/metafile.json'), JSON.stringify(metafile))
  writeFileSync(join(root, 'dist/console/index.html'), page)
  removeFormer(outdir, new Set(outputFiles.map(({ path }) => relative(outdir, path))))
}

/** A page that was opened an hour ago may still load what it was made of. */
function removeFormer (outdir, made) {
  for (const name of readdirSync(outdir).filter((name) => !made.has(name.replace(/\.gz$/, '')))) {
    if (Date.now() - statSync(join(outdir, name)).mtimeMs > 3_600_000) rmSync(join(outdir, name), { force: true })
  }
}
