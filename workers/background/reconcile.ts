// What a crash or an emptied queue leaves behind: requests are queued again, settled or removed.
import type { Pool } from 'pg'
import { enqueueRequests, releaseLost, type RequestQueue } from './jobs.js'
import type { BackgroundKinds } from './kind.js'
import { acceptRequest, dropPrepared } from './requests.js'

export interface ReconcileOptions {
  pool: Pool
  queue: Pick<RequestQueue, 'add' | 'ids'>
  kinds: BackgroundKinds
  /** The age from which a job is looked for in the queue, in milliseconds. */
  lostAfterMs: number
  /** The age from which a request that was prepared has nobody who accepts it, in milliseconds. */
  orphanedAfterMs: number
}

const atOnce = 100

/** One pass. It throws errors of the queue only after everything that needs no queue. */
export async function reconcileRequests (options: ReconcileOptions): Promise<void> {
  const { pool, queue, lostAfterMs } = options
  await settleOrphans(options)
  await removeExpired(options)
  for (const kind of Object.values(options.kinds)) await kind.tidy?.()
  await releaseLost(pool, queue, lostAfterMs)
  await enqueueRequests(pool, queue)
}

/** The log says whether they were accepted. */
async function settleOrphans ({ pool, kinds, orphanedAfterMs }: ReconcileOptions): Promise<void> {
  const { rows } = await pool.query<{ id: string, kind: string }>(`
    SELECT id, kind FROM ledger.background_requests
    WHERE state = 'prepared' AND created_at < now() - $1 * interval '1 ms' AND kind = ANY($2)
    ORDER BY created_at LIMIT ${atOnce}`, [orphanedAfterMs, Object.keys(kinds)])
  for (const { id, kind } of rows) {
    if (await kinds[kind]?.wasAccepted(id)) await acceptRequest(pool, id)
    else await dropPrepared(pool, id)
  }
}

/** With what refers to them. */
async function removeExpired ({ pool, kinds }: ReconcileOptions): Promise<void> {
  for (const [kind, { keepDays }] of Object.entries(kinds)) {
    await pool.query(`
      DELETE FROM ledger.background_requests WHERE id IN (
        SELECT id FROM ledger.background_requests
        WHERE kind = $1 AND finished_at < now() - $2 * interval '1 day' ORDER BY finished_at LIMIT 1)`, [kind, keepDays])
  }
}
