// Workers that send. Each incarnation has a row with a heartbeat, by the clock of Postgres. Once a row is gone, the
// attempts of that incarnation are closed and made again.
import type { Pool } from 'pg'
import { isOpen, suspectAfter } from './claim.js'

const [silentAfter, lateAfter] = ['15 seconds', '6 seconds']
export const heartbeatMs = 2_000

/** Begins an incarnation. @returns its id */
export async function enlist (pool: Pick<Pool, 'query'>, holder: string): Promise<string> {
  const { rows: [row] } = await pool.query<{ id: string }>(
    'INSERT INTO ledger.webhook_workers (holder, beat_at, steady_since) VALUES ($1, now(), now()) RETURNING id', [holder])
  if (!row) throw new Error('a worker got no row')
  return row.id
}

/**
 * @returns false if the row is gone: others make this worker's attempts again, so it must send nothing more of them.
 * `suspects`: assistants with due attempts that crashed their workers, those of failing webhooks last
 */
export async function heartbeat (pool: Pick<Pool, 'query'>, id: string): Promise<{ suspects: string[] } | false> {
  const { rows: [row] } = await pool.query<{ suspects: string[] }>({
    name: 'heartbeat',
    text: `
      UPDATE ledger.webhook_workers
      SET beat_at = now(), steady_since = CASE WHEN beat_at < now() - interval '${lateAfter}' THEN now() ELSE steady_since END
      WHERE id = $1
      RETURNING ARRAY(
        SELECT d.assistant_id::text FROM ledger.webhook_due d JOIN ledger.webhooks w USING (assistant_id)
        WHERE d.worker IS NULL AND d.crashes >= ${suspectAfter} AND d.due_at <= now() AND (d.trigger <> 'schedule' OR ${isOpen('w')})
        GROUP BY d.assistant_id, w.failing_since ORDER BY w.failing_since IS NOT NULL, min(d.due_at) LIMIT 10) AS suspects`,
    values: [id]
  })
  return row ?? false
}

/**
 * Removes silent workers. Only a worker whose own heartbeats were on time all the while may judge: if Postgres was
 * away, or froze in the middle of this, everybody was silent.
 * @returns text that changes when a worker comes or goes
 */
export async function removeSilent (pool: Pick<Pool, 'query'>, id: string): Promise<string> {
  const { rows: [row] } = await pool.query<{ present: string }>({
    name: 'remove-silent',
    text: `
      WITH gone AS (
        DELETE FROM ledger.webhook_workers silent USING ledger.webhook_workers me
        WHERE me.id = $1 AND silent.beat_at < now() - interval '${silentAfter}'
          AND me.beat_at > now() - interval '${lateAfter}' AND me.steady_since < now() - interval '${silentAfter}'
        RETURNING silent.id
      )
      SELECT concat_ws(' ', (SELECT last_value FROM ledger.webhook_workers_id_seq), string_agg(id::text, ' ' ORDER BY id)) AS present
      FROM ledger.webhook_workers WHERE id NOT IN (SELECT id FROM gone)`,
    values: [id]
  })
  return row?.present ?? ''
}

/** Ends an incarnation: attempts that it still has are closed as if it had died. */
export async function dismiss (pool: Pick<Pool, 'query'>, id: string): Promise<void> {
  await pool.query('DELETE FROM ledger.webhook_workers WHERE id = $1', [id])
}
