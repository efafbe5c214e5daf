// A good user beside a stranger with 200 connections, another user's eight uploads, and readers that do not read.
import t from 'tap'
import { openPool } from '../../../src/postgres/pool.js'
import { scratchPostgres } from '../../support/back-ends/scratch-postgres.js'
import { serveLog } from '../../support/back-ends/back-ends.js'
import { listeningUrl } from '../../support/processes/role-log.js'
import { dataDir, ringledger } from '../../support/ringledger.js'
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
  const scene = { url, pool, token: (user: string) => token(secrets.JWT_SECRET, user), rows: 100_000, times: 1_000 }
  const { alone, beside, uploads, exported } = await hostileRun(t, scene)
  t.strictSame(new Set([...alone.statuses, ...beside.statuses]), new Set([200]))
  t.equal(exported, 200)
  t.ok(uploads.every((status) => [202, 429, 408].includes(status)), uploads.join())
  t.comment(`p99 ${alone.p99.toFixed(1)} ms alone, ${beside.p99.toFixed(1)} ms beside the others`)
  t.ok(beside.p99 < 2 * alone.p99, `${alone.p99} ms alone, ${beside.p99} ms beside the others`)
})
