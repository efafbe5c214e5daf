// How many connections to Postgres each role takes: the table of docs/operations.md is what the code says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mostConnections } from '../../src/composition/connections.js'
import { packageRoot } from '../../src/package-root.js'
import { connectionsOfQueue } from '../../workers/queue/back-ends/postgres.js'

const { producer, worker, listening } = connectionsOfQueue
const queue = producer + worker + listening
const most: Record<string, number> = {
  api: mostConnections + 2,
  projector: 2 * mostConnections + 2,
  worker: 2 * mostConnections + 3,
  'worker, without `REDIS_URL`': 2 * mostConnections + 3 + queue,
  '`start`, without `REDIS_URL`': 2 * mostConnections + 3 + queue
}

t.test('the table says what the code says', async (t) => {
  const text = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8')
  const [, table = ''] = /\n\| process \| connections at most \|[^\n]*\n\|[-| ]+\|\n((?:\|.*\n)+)/.exec(text) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(([, name = '', count]) => [name, Number(count)])
  t.strictSame(Object.fromEntries(rows), { ...most, '`event-store`': 5 })
})
