// What only a lint sees. Code that opens a connection to Postgres listens to its errors: it can die between two
// statements, when nobody asks it anything, and Node ends a process for an error that nobody listens to.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../src/package-root.js'

const opens = /new (?:pg\.)?(?:Client|Pool)\(/

/** What stands behind each connection that is opened, up to the next one. */
const openedIn = (source: string): string[] => source.split(opens).slice(1)

const sourcesIn = (place: string): string[] => readdirSync(join(packageRoot, place), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|js)$/.test(name) && !/(^|\/)(node_modules|dist|test)\//.test(name))
  .map((name) => `${place}/${name}`)

t.test('each connection has a listener', async (t) => {
  const files = ['src', 'projections', 'workers', 'bin', 'packages'].flatMap(sourcesIn)
    .map((name) => ({ name, source: readFileSync(join(packageRoot, name), 'utf8') }))
    .filter(({ source }) => source.includes("from 'pg'") && opens.test(source))
  t.ok(files.length >= 5, 'it finds them')
  for (const { name, source } of files) t.ok(openedIn(source).every((after) => after.includes(".on('error'")), name)
})

t.test('the domain is pure, and a line has one statement', (t) => {
  const input = `const one = 1; const two = 2
export const now = () => [one, two, Date.now(), Math.random(), process.pid]
export const later = async () => await import('./later.js')
`
  const args = ['node_modules/eslint/bin/eslint.js', '--stdin', '--stdin-filename', 'src/domain/any.js', '--format', 'json']
  const { stdout } = spawnSync(process.execPath, args, { cwd: packageRoot, input, encoding: 'utf8' })
  const [{ messages }] = JSON.parse(stdout)
  t.strictSame(messages.map(({ message }: { message: string }) => message), [
    'One statement a line.', 'The domain has no clock: times are passed in.',
    'The domain makes no ids: they are passed in.', "Unexpected use of 'process'.",
    'The domain does not wait: look-ups are passed in.', 'The domain does not wait: look-ups are passed in.',
    'The domain loads nothing.'
  ])
  t.end()
})
