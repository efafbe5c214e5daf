// Lets the deliveries of a restored database go on.
import type { Pool } from 'pg'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import { type MarkedLog, readDatabaseState } from '../../src/recovery/markers.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { touchCheckpoint } from '../../src/subscriptions/checkpoint.js'
import { cancelRestored } from '../deliveries/pending.js'

export interface Resumed {
  /** Calls up to this position get deliveries that are not sent. */
  position: bigint
  /** Deliveries that were due or held in the restored delivery log. */
  cancelled: number
}

/**
 * Calls up to the last marker are recorded as `skipped`, pending deliveries are `cancelled`, both for the reason
 * `restored`; later calls are sent as usual. Running workers notice within seconds. A call that broke off goes on when
 * it is repeated: before its last step nothing is sent.
 * @returns nothing when webhooks may be sent already
 */
export async function resumeWebhooks (pool: Pool, streams: MarkedLog): Promise<Resumed | undefined> {
  const { last, maySend } = await readDatabaseState(pool, streams)
  if (!last || maySend) return undefined
  const { id, revision, position } = last
  let cancelled = 0
  for (let step = await cancelRestored(pool); step !== undefined; step = await cancelRestored(pool)) cancelled += step
  await inTransaction(pool, async (tx) => {
    await touchCheckpoint(tx, dispatcherCheckpoint)
    await tx.query('UPDATE ledger.this_database SET skip_until = greatest(skip_until, $1::bigint)', [position])
    await tx.query(`
      INSERT INTO ledger.markers (id, revision, position, calls_known) VALUES ($1, $2, $3, true)
      ON CONFLICT (id) DO UPDATE SET revision = $2, position = $3, calls_known = true`, [id, revision, position])
  })
  return { position, cancelled }
}
