// A crash of Postgres empties the ledger's keys of persons. How they are looked up then is planned for an empty table.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import { packageRoot } from '../../src/package-root.js'
import { migrate } from '../../src/postgres/migrate.js'
import { openPool } from '../../src/postgres/pool.js'
import { keyOf, noteKeys, type KeptKey } from '../../src/privacy/person-keys.js'
import { eventually } from '../support/eventually.js'

const cluster = await postgresCluster(t, { fsync: false, settings: { autovacuum_naptime: '1s' } })
await migrate(cluster.url, packageRoot)

const keys = (count: number): KeptKey[] => Array.from({ length: count }, () => {
  const keyId = randomUUID()
  return { keyId, person: keyId, wrapped: { key_id: '1', sealed: 'AAAA' } }
})

/** A process of the service, with the one session that it uses. */
function openLedger () {
  const pool = openPool(cluster.url, { applicationName: 'ledger', max: 1, onError: () => {} })
  /** Rows that are read from the first to the last to find one. */
  const scanned = async () => {
    await pool.query('SELECT pg_stat_force_next_flush()')
    const { rows: [row] } = await pool.query<{ read: string }>(
      "SELECT seq_tup_read AS read FROM pg_stat_user_tables WHERE relname = 'person_keys'")
    return Number(row?.read)
  }
  return { pool, scanned }
}

t.test('after some thousand new keys they are looked up by their index again', async (t) => {
  const former = openLedger()
  for (let batch = 0; batch < 10; batch++) await noteKeys(former.pool, keys(5_000))
  await former.pool.query('ANALYZE ledger.person_keys')
  await former.pool.end()
  await cluster.kill()
  await cluster.start()

  const { pool, scanned } = openLedger()
  t.teardown(() => pool.end())
  const [first] = keys(1)
  for (let n = 0; n < 10; n++) t.equal(await keyOf(pool, String(first?.person)), undefined, 'it is empty')
  const noted = keys(3_000)
  await noteKeys(pool, noted)
  const [wanted] = noted
  await eventually(async () => {
    const before = await scanned()
    const found = await keyOf(pool, String(wanted?.person))
    t.equal(found?.keyId, wanted?.keyId)
    return await scanned() === before
  }, 30_000)
})
