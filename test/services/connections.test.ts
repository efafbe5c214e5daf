// How many connections to Postgres each role takes: the table of docs/operations.md is what the code says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mostOfAProcess } from '../../src/cli/doctor/postgres.js'
import { mostConnections } from '../../src/services/connections.js'
import { packageRoot } from '../../src/package-root.js'
import { requestJobs } from '../../workers/background/jobs.js'
import { connectionsOfQueue } from '../../workers/queue/back-ends/postgres.js'

const queues = [connectionsOfQueue, requestJobs.connections]
  .reduce((sum, { producer, worker }) => sum + producer + worker + 1, 0)
const most: Record<string, number> = {
  api: mostConnections + 1,
  projector: 2 * mostConnections + 1,
  worker: 2 * mostConnections + 1,
  'worker, without `REDIS_URL`': 2 * mostConnections + 1 + queues,
  '`start`, without `REDIS_URL`': 2 * mostConnections + 1 + queues
}

t.test('doctor asks for as many as the process that takes the most', async (t) => {
  t.strictSame(mostOfAProcess, { redis: most.worker, postgres: most['worker, without `REDIS_URL`'] })
})

t.test('the table says what the code says', async (t) => {
  const text = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8')
  const [, table = ''] = /\n\| process \| connections at most \|[^\n]*\n\|[-| ]+\|\n((?:\|.*\n)+)/.exec(text) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(([, name = '', count]) => [name, Number(count)])
  t.strictSame(Object.fromEntries(rows), { ...most, '`event-store`': 5 })
})
