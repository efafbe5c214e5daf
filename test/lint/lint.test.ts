// Code that opens a connection to Postgres listens to its errors: it can die between two
// statements, when nobody asks it anything, and Node ends a process for an error that nobody listens to.
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
