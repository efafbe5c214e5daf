// No place where a process may die between two steps is left out by the tests that kill it there.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { packageRoot } from '../../../src/package-root.js'
import { brakePoints, dropPoints, replayPoints, rollbackPoints, runnerPoints } from '../../support/fault-points.js'

const tried = [...runnerPoints, ...brakePoints, ...replayPoints.map(([at]) => at), ...rollbackPoints, ...dropPoints]

t.test('each point of the sources is tried, and no other', async (t) => {
  const named = ['src', 'projections', 'workers'].flatMap((part) => readdirSync(join(packageRoot, part), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(join(packageRoot, part, file), 'utf8').matchAll(/faults\.at\?\.\('([^']+)'\)/g)].map(([, point]) => point)))
  t.strictSame([...new Set(tried)].sort(), named.sort())
})
