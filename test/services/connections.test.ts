// How many connections to Postgres a role takes, as docs/operations.md says, and what is logged of lost ones.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { mostOfAProcess } from '../../src/cli/doctor/back-ends.js'
import { mostConnections, postgresOutages } from '../../src/services/connections.js'
import { packageRoot } from '../../src/package-root.js'
import { connectionsOfQueue } from '../../workers/queue/postgres.js'
import { scratchPostgres } from '../support/back-ends/back-ends.js'
import { tcpProxy } from '../support/back-ends/tcp-proxy.js'
import { eventually } from '../support/eventually.js'
import { keepingLog, notificationsOf } from '../support/postgres/ledger.js'

const queue = connectionsOfQueue.producer + connectionsOfQueue.worker + 1
const most: Record<string, number> = {
  api: mostConnections + 2,
  projector: 2 * mostConnections + 1,
  worker: 2 * mostConnections + 1,
  'worker, without `REDIS_URL`': 2 * mostConnections + 1 + queue,
  '`start`, without `REDIS_URL`': 2 * mostConnections + 1 + queue
}

t.test('doctor asks for as many as the process that takes the most, and the table says what the code says', async (t) => {
  t.strictSame(mostOfAProcess, { redis: most.worker, postgres: most['worker, without `REDIS_URL`'] })
  const text = readFileSync(join(packageRoot, 'docs/operations.md'), 'utf8')
  const [, table = ''] = /\n\| process \| connections at most \|[^\n]*\n\|[-| ]+\|\n((?:\|.*\n)+)/.exec(text) ?? []
  const rows = [...table.matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(([, name = '', count]) => [name, Number(count)])
  t.strictSame(Object.fromEntries(rows), { ...most, '`event-store`': 5 })
})

t.test('an outage is logged when it begins and when it ends, however often Postgres is tried meanwhile', async (t) => {
  const { url } = await scratchPostgres(t)
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  const log = keepingLog()
  const { onError, onAnswer } = postgresOutages(log)
  const errors: Error[] = []
  const notifications = notificationsOf(t, Object.assign(new URL(url), { port: String(proxy.port) }).href, {
    onError: (error) => {
      errors.push(error)
      onError(error)
    },
    onAnswer
  })
  const listener = notifications.listen('ringledger_test', { onNotification () {} })
  for (const outages of [1, 2]) {
    await eventually(() => listener.isListening())
    await proxy.close()
    const before = errors.length
    await eventually(() => errors.length >= before + 3)
    await proxy.accept()
    await eventually(() => listener.isListening())
    const told = log.lines.map(({ message }) => message)
    const twice = ['lost a connection to Postgres', 'Postgres answers again.']
    t.strictSame(told, Array.from({ length: outages }, () => twice).flat())
  }
})
