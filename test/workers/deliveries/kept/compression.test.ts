// Bodies are compressed by LZ4 on servers that have it, and by their default on others.
import { postgresCluster } from '@ringledger/embedded-postgres/testing'
import t from 'tap'
import { deliveryId } from '../../../../workers/dispatch/delivery-id.js'
import { installed, installedPrograms as programs } from '../../../support/postgres/installed.js'
import { scratchLedger, type ScratchLedger } from '../../../support/postgres/ledger.js'

/** How a body of some KiB is stored. */
async function compressionOf ({ pool }: ScratchLedger): Promise<unknown> {
  await pool.query(`
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, position, last_position, status, body)
    VALUES ($1, 'c-1', 'call.completed', 1, 1, 'skipped', $2)`, [deliveryId('c-1'), 'Good morning. '.repeat(400)])
  const { rows: [row] } = await pool.query('SELECT pg_column_compression(body) AS by FROM ledger.webhook_deliveries')
  return row?.by
}

t.test('the embedded Postgres has none: there it is as it was', async (t) => {
  t.equal(await compressionOf(await scratchLedger(t)), 'pglz')
})

if (!programs) t.pass(`there is no Postgres in ${installed}: LZ4 is not tried`)
else {
  t.test(`with ${programs} it is LZ4`, async (t) => {
    t.equal(await compressionOf(await scratchLedger(t, await postgresCluster(t, { programs, fsync: false }))), 'lz4')
  })
}
