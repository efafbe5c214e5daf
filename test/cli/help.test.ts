// A help text is quick: it loads the files that name the commands, and nothing that a command works with.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'
import { dataDir, run } from '../support/ringledger.js'

const recorder = pathToFileURL(join(packageRoot, 'test/support/processes/record-loads.js')).href
const file = join(dataDir(t), 'loaded')

t.test('a help text loads no role, no back end and no settings', async (t) => {
  const { code, stderr } = await run(t, ['--help'], { NODE_OPTIONS: `--import ${recorder}`, RECORD_LOADS: file })
  t.equal(code, 0, stderr)
  const loaded = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const ours = loaded.filter((url) => /\/dist\/(src|projections|workers)\//.test(url))
  t.ok(ours.some((url) => url.endsWith('/dist/src/cli/projections/replay.js')), 'a command is known')
  t.strictSame(
    ours.filter((url) => !/\/dist\/src\/(main|package-root|settings\/dot-env|postgres\/problems\/in-words|cli\/.+)\.js$/.test(url)),
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
