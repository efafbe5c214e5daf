// What users are told of their webhooks: an endpoint that begins to fail or is suspended, a delivery that is exhausted.
import type { Pool, PoolClient } from 'pg'
import type { Notice } from '../../src/features/webhooks/model.js'
import { readPage, type Page, type Paged } from '../../src/postgres/page.js'
import type { Attempt } from './attempts/attempt.js'

/** The attempt that led to the notice. */
type Cause = Pick<Attempt, 'deliveryId' | 'endpointId'>

const failuresUntilTold = 3

/**
 * Counts a failed attempt of the endpoint, up to the third in a row, of which its user is told. What was on its way
 * when the endpoint was suspended tells nothing new.
 * @returns whether it was the third
 */
export async function recordFailure (pool: Pool, { deliveryId, endpointId }: Cause): Promise<boolean> {
  const { rowCount } = await pool.query(`
    WITH before AS MATERIALIZED (
      SELECT id, failures_in_row FROM ledger.webhook_endpoints
      WHERE id = $2 AND suspended_at IS NULL
        AND (failures_in_row < ${failuresUntilTold} OR failing_since IS NULL) -- as after a resume
      FOR NO KEY UPDATE
    ), failed AS (
      UPDATE ledger.webhook_endpoints e
      SET failures_in_row = least(before.failures_in_row + 1, ${failuresUntilTold}),
          failing_since = coalesce(failing_since, now())
      FROM before WHERE e.id = before.id
      RETURNING before.failures_in_row + 1 AS nth
    )
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
    SELECT d.user_id, 'endpoint_failing', d.assistant_id, d.id, 'failed_three_times'
    FROM failed, ledger.webhook_deliveries d
    WHERE nth = ${failuresUntilTold} AND d.id = $1`, [deliveryId, endpointId])
  return rowCount === 1
}

/** Notes that the endpoint was suspended after this delivery. */
export async function noteSuspension (tx: PoolClient, deliveryId: string, reason: 'gone' | 'failing'): Promise<void> {
  await tx.query(`
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
    SELECT user_id, 'endpoint_suspended', assistant_id, id, $2 FROM ledger.webhook_deliveries WHERE id = $1`,
  [deliveryId, reason])
}

const iso = 'to_char(page.at AT TIME ZONE \'UTC\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\')'

/** What a notice is made of, as JSON, from a row `page`. */
export const noticeOf = (row: string) => `
  'id', ${row}.id, 'type', ${row}.type, 'assistant_id', ${row}.assistant_id, 'delivery_id', ${row}.delivery_id,
  'reason', ${row}.reason, 'at', ${iso.replace('page', row)}`

/** A page of the user's notices, newest first. */
export async function listNotices (pool: Pool, userId: string, page: Page): Promise<Paged<Notice>> {
  return await readPage(pool, {
    name: 'notices',
    columns: 'id, type, assistant_id, delivery_id, reason, at',
    from: 'ledger.webhook_notices',
    key: 'id',
    own: [['user_id = ?', userId]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: `json_build_object(${noticeOf('page')})`
  }, page)
}
