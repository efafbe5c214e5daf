// A help text is quick: it loads the files that name the commands, and nothing that a command works with.
import { join } from 'node:path'
import t from 'tap'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../src/package-root.js'
import { dataDir, run } from '../support/ringledger.js'

const file = join(dataDir(t), 'loaded')
const recorder = pathToFileURL(join(packageRoot, 'test/support/loads/record-loads.js')).href

/** URLs of modules. For a module of a program, which holds several of ours, those of its sources. */
function loadedIn (file: string): string[] {
  const urls = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  return [...new Set(urls.flatMap((url) => url.includes('/dist/programs/') ? sourcesOf(url) : [url]))]
}

function sourcesOf (url: string): string[] {
  const { sources }: { sources: string[] } = JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8'))
  return sources.map((path) => new URL(path, url).href)
}

t.test('a help text loads no role, no back end and no settings', async (t) => {
  const { code, stderr } = await run(t, ['--help'], { NODE_OPTIONS: `--import ${recorder}`, RECORD_LOADS: file })
  t.equal(code, 0, stderr)
  const loaded = loadedIn(file)
  const ours = loaded.filter((url) => url.endsWith('.ts'))
  t.ok(ours.some((path) => path.endsWith('/src/cli/commands.ts')), 'the commands are known')
  t.strictSame(
    ours.filter((path) => !/\/src\/(main|package-root|cli\/dot-env|text-files|postgres\/in-words|cli\/commands)\.ts$/.test(path)),
    [],
    'only the command line is loaded, with .env and what Postgres may refuse in words'
  )
  const packages = loaded.filter((url) => /\/(node_modules|dist\/vendor)\//.test(url))
  t.strictSame(
    packages.filter((url) => !/\/dist\/vendor\/\w+\/(commander|chunk-\w+)\.js$/.test(url)),
    [],
    'and of packages only its parser'
  )
  t.ok(packages.length <= 3, `the parser alone is loaded: ${packages.join(' ')}`)
})
