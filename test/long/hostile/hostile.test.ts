// A good user beside a stranger with 200 connections, another user's eight uploads, and readers that do not read.
import t from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchPostgres, serveLog } from '../../support/back-ends/back-ends.js'
import { listeningUrl, dataDir, ringledger } from '../../support/ringledger.js'
import { token } from '../../support/running-service.js'
import { secrets } from '../../support/auth/secrets.js'
import { hostileRun } from '../../support/loads/hostile.js'

t.test('no request fails, and the p99 stays under twice what it is alone', async (t) => {
  const { url: databaseUrl } = await scratchPostgres(t, 'service')
  const store = await serveLog({ databaseUrl })
  t.teardown(store.close)
  const pool = openPool(databaseUrl, { applicationName: 'test', onError: () => {} })
  t.teardown(() => pool.end())
  const env = { ...secrets, DATABASE_URL: databaseUrl, EVENTSTORE_URL: store.url, PORT: '0', RATE_LIMIT_PER_MINUTE: '0' }
  const start = async (role: string) =>
    await ringledger(t, [role], { ...env, LOG_LEVEL: 'warn', DATA_DIR: dataDir(t) }).says(listeningUrl)
  const [url] = await Promise.all([start('api'), start('projector')])
  const user = (name: string) => token(secrets.JWT_SECRET, name)
  const rounds = await hostileRun(t, { url, pool, token: user, rows: 60_000, times: 1_000, rounds: 3 })
  for (const { alone, beside, exported, uploads } of rounds) {
    t.strictSame(new Set([...alone.statuses, ...beside.statuses, exported]), new Set([200]))
    t.ok(uploads.every((status) => [202, 429, 408].includes(status)), uploads.join())
    t.comment(`p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside the others`)
  }
  const [alone, beside] = [median(rounds.map(({ alone }) => alone.p99)), median(rounds.map(({ beside }) => beside.p99))]
  t.ok(beside < 2 * alone, `${alone} ms alone, ${beside} ms beside the others`)
})

const median = (values: number[]) => values.sort((one, other) => one - other)[values.length >> 1] ?? 0
