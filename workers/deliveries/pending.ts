// Changes of deliveries besides outcomes: attempts on demand, restarts, cancellations, erasures, removal of payloads.
// Each statement changes at most 1,000 deliveries.
import type { Pool, PoolClient } from 'pg'
import { suspectAfter, type Trigger } from './claim.js'
import { mostAtOnce } from './webhooks.js'

type Database = Pick<Pool | PoolClient, 'query'>

/**
 * Asks for one more attempt besides the schedule: a redelivery, a test or a probe. Requests add up until they are made.
 * @returns the assistant; nothing if there is nothing to send
 */
export async function askForAttempt (
  tx: Database, id: string, trigger: Exclude<Trigger, 'schedule'>, userId?: string
): Promise<string | undefined> {
  const { rows: [asked] } = await tx.query<{ id: string }>(`
    WITH delivery AS MATERIALIZED (
      SELECT * FROM ledger.webhook_deliveries
      WHERE id = $1 AND body IS NOT NULL AND erased_at IS NULL AND ($3::text IS NULL OR user_id = $3) FOR NO KEY UPDATE
    )
    INSERT INTO ledger.webhook_due AS due (delivery_id, trigger, n, assistant_id, user_id, due_at, crashes)
    SELECT id, $2, 1 + coalesce((
        SELECT max(n) FROM ledger.webhook_attempts a WHERE a.delivery_id = $1 AND a.trigger = $2), 0),
      assistant_id, user_id, clock_timestamp(), CASE WHEN status = 'held' THEN ${suspectAfter} ELSE 0 END
    FROM delivery
    ON CONFLICT (delivery_id, trigger) DO UPDATE SET more = due.more + 1
    RETURNING assistant_id::text AS id`, [id, trigger, userId ?? null])
  return asked?.id
}

/**
 * Restarts the schedule of these deliveries, due now, even of those that wait for a retry. It leaves out those that are
 * delivered, erased, without a body, or being sent. @returns the restarted ones
 */
export async function beginAnew (
  tx: Database, ids: readonly string[]
): Promise<Array<{ id: string, assistant_id: string }>> {
  const { rows } = await tx.query<{ id: string, assistant_id: string }>(`
    WITH delivery AS MATERIALIZED (
      SELECT * FROM ledger.webhook_deliveries
      WHERE id = ANY($1::uuid[]) AND status IN ('scheduled', 'held', 'exhausted', 'cancelled') AND call_id IS NOT NULL
        AND body IS NOT NULL AND erased_at IS NULL
      ORDER BY id FOR NO KEY UPDATE
    ), renewed AS (
      INSERT INTO ledger.webhook_due AS due (delivery_id, trigger, n, assistant_id, user_id, due_at)
      SELECT id, 'schedule', attempt_count + 1, assistant_id, user_id, clock_timestamp() FROM delivery ORDER BY id
      ON CONFLICT (delivery_id, trigger) DO UPDATE
      SET due_at = CASE WHEN due.crashes < ${suspectAfter} THEN least(due.due_at, excluded.due_at) ELSE excluded.due_at END, crashes = 0
      WHERE due.worker IS NULL
      RETURNING delivery_id
    )
    UPDATE ledger.webhook_deliveries d
    SET status = 'scheduled', reason = NULL, recovered_at = clock_timestamp(), finished_at = NULL
    FROM renewed WHERE d.id = renewed.delivery_id RETURNING d.id, d.assistant_id::text`, [ids])
  return rows
}

/**
 * Cancels the deliveries in the relation `picked` (delivery_id) that nobody is sending. `= ANY(ARRAY(…))` looks rows up
 * by id, whatever statistics say about their number.
 */
const cancellingSql = (picked: string, reason: string) => `
  WITH picked AS MATERIALIZED (${picked}
  ), delivery AS MATERIALIZED (
    SELECT id FROM ledger.webhook_deliveries WHERE id = ANY(ARRAY(SELECT delivery_id FROM picked)) AND status = 'scheduled'
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
  ), due AS MATERIALIZED (
    SELECT delivery_id FROM ledger.webhook_due
    WHERE delivery_id = ANY(ARRAY(SELECT id FROM delivery)) AND trigger = 'schedule' AND worker IS NULL
    ORDER BY delivery_id FOR UPDATE SKIP LOCKED
  ), gone AS (
    DELETE FROM ledger.webhook_due WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM due)) AND trigger = 'schedule'
    RETURNING delivery_id
  )
  UPDATE ledger.webhook_deliveries SET status = 'cancelled', reason = '${reason}', finished_at = clock_timestamp()
  WHERE id = ANY(ARRAY(SELECT delivery_id FROM gone))`

/** Locks the webhooks, so that they stay as they are, and picks what was due longest. */
const heldSql = (webhooks: string, due = 'true') => `
    SELECT due.delivery_id FROM ledger.webhooks w CROSS JOIN LATERAL (
      SELECT delivery_id FROM ledger.webhook_due
      WHERE assistant_id = w.assistant_id AND trigger = 'schedule' AND worker IS NULL AND ${due}
      ORDER BY due_at LIMIT ${mostAtOnce}) due
    WHERE (w.off_since IS NOT NULL OR w.suspended_at IS NOT NULL) AND ${webhooks}
    LIMIT ${mostAtOnce} FOR NO KEY UPDATE OF w SKIP LOCKED`

const longAgo = "now() - interval '30 days'"

const heldReasons = [
  cancellingSql(heldSql('w.deleted_at IS NOT NULL'), 'assistant_deleted'),
  cancellingSql(heldSql(`least(w.off_since, w.suspended_at) < ${longAgo}`, `due_at < ${longAgo}`), 'held_too_long'),
  `UPDATE ledger.webhook_deliveries SET status = 'cancelled', finished_at = clock_timestamp(),
     reason = CASE WHEN finished_at < ${longAgo} THEN 'held_too_long' ELSE 'assistant_deleted' END
   WHERE id IN (SELECT id FROM ledger.webhook_deliveries d WHERE status = 'held' AND (finished_at < ${longAgo} OR EXISTS (
       SELECT FROM ledger.webhooks w WHERE w.assistant_id = d.assistant_id AND deleted_at IS NOT NULL))
     LIMIT ${mostAtOnce} FOR NO KEY UPDATE SKIP LOCKED) AND status = 'held'`
]

/** Cancels some deliveries that are held too long or belong to a deleted assistant. @returns how many */
export async function cancelHeld (db: Database): Promise<number> {
  let cancelled = 0
  for (const text of heldReasons) cancelled += (await db.query(text)).rowCount ?? 0
  return cancelled
}

/**
 * After a restore: cancels some pending deliveries, even those that were being sent. Nothing may be claimed or closed
 * meanwhile. @returns how many deliveries; nothing once none are left
 */
export async function cancelRestored (db: Database): Promise<number | undefined> {
  const { rows: [done] } = await db.query<{ gone: number, cancelled: number }>(`
    WITH delivery AS MATERIALIZED (
      SELECT id, status FROM ledger.webhook_deliveries
      WHERE id = ANY(ARRAY(SELECT delivery_id FROM ledger.webhook_due LIMIT ${mostAtOnce})) ORDER BY id FOR NO KEY UPDATE
    ), due AS MATERIALIZED (
      SELECT * FROM ledger.webhook_due WHERE delivery_id = ANY(ARRAY(SELECT id FROM delivery))
      ORDER BY delivery_id, trigger FOR UPDATE
    ), noted AS (
      INSERT INTO ledger.webhook_attempts (delivery_id, trigger, n, started_at, finished_at, outcome, error)
      SELECT delivery_id, trigger, n, started_at, clock_timestamp(), 'unknown', 'the database was restored' FROM due
      WHERE started_at IS NOT NULL ON CONFLICT DO NOTHING
    ), ended AS (
      SELECT id, bool_or(trigger IN ('schedule', 'test') AND status = 'scheduled') AS waits, bool_or(started_at IS NOT NULL) AS ran
      FROM delivery JOIN due ON delivery_id = id GROUP BY id
    ), cancelled AS (
      UPDATE ledger.webhook_deliveries d
      SET status = CASE WHEN waits THEN 'cancelled' ELSE status END, reason = CASE WHEN waits THEN 'restored' ELSE reason END,
          finished_at = CASE WHEN waits THEN clock_timestamp() ELSE finished_at END,
          outcome = CASE WHEN ran THEN 'unknown' ELSE outcome END, status_code = CASE WHEN NOT ran THEN status_code END
      FROM ended WHERE d.id = ANY(ARRAY(SELECT id FROM delivery)) AND d.id = ended.id AND (waits OR ran)
      RETURNING waits
    ), gone AS (
      DELETE FROM ledger.webhook_due WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM due)) RETURNING delivery_id
    )
    SELECT (SELECT count(*) FROM gone)::integer AS gone, (SELECT count(*) FROM cancelled WHERE waits)::integer AS cancelled`)
  return done?.gone ? done.cancelled : undefined
}

/**
 * Erases everything about these calls, 1,000 at most, but that there was a webhook. Running attempts end, but nobody
 * keeps their answers. It locks the rows first, so that nobody makes them due meanwhile.
 */
export async function eraseDeliveries (tx: PoolClient, callIds: readonly string[]): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(`
    SELECT id FROM ledger.webhook_deliveries WHERE call_id = ANY($1::text[]) AND type = 'call.completed'
    ORDER BY id FOR NO KEY UPDATE`, [callIds])
  await tx.query(`
    WITH due AS MATERIALIZED (
      SELECT * FROM ledger.webhook_due WHERE delivery_id = ANY($1::uuid[]) AND worker IS NULL
      ORDER BY delivery_id, trigger FOR UPDATE
    ), gone AS (
      DELETE FROM ledger.webhook_due WHERE delivery_id = ANY($1::uuid[])
        AND (delivery_id, trigger) IN (SELECT delivery_id, trigger FROM due)
    ), emptied AS (
      UPDATE ledger.webhook_attempts SET response_excerpt = NULL
      WHERE delivery_id = ANY($1::uuid[]) AND response_excerpt IS NOT NULL
    )
    UPDATE ledger.webhook_deliveries
    SET erased_at = coalesce(erased_at, clock_timestamp()), body = NULL,
        status = CASE WHEN status IN ('scheduled', 'held') THEN 'cancelled' ELSE status END,
        reason = CASE WHEN status IN ('scheduled', 'held') THEN 'erased' ELSE reason END,
        finished_at = coalesce(finished_at, clock_timestamp())
    WHERE id = ANY($1::uuid[])`, [rows.map(({ id }) => id)])
}

/** Whether an attempt of an erased call of the user still runs: its receiver may get it. */
export async function areErasedInFlight (db: Database, userId: string): Promise<boolean> {
  const { rows: [found] } = await db.query<{ is_there: boolean }>(`
    SELECT EXISTS (SELECT FROM ledger.webhook_due due JOIN ledger.webhook_deliveries d ON d.id = due.delivery_id
      WHERE due.user_id = $1 AND due.worker IS NOT NULL AND d.erased_at IS NOT NULL) AS is_there`, [userId])
  return found?.is_there ?? false
}

/**
 * Removes payloads of some deliveries that are so many days old and wait for nothing, and whole rows of tests. It locks
 * the rows first: it sees every attempt that was asked for, and nobody can ask for another. @returns how many
 */
export async function removePayloads (tx: PoolClient, days: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(`
    SELECT id FROM ledger.webhook_deliveries
    WHERE body IS NOT NULL AND status NOT IN ('scheduled', 'held') AND created_at < now() - $1 * interval '1 day'
    ORDER BY created_at LIMIT 500 FOR UPDATE SKIP LOCKED`, [days])
  const values = [rows.map(({ id }) => id)]
  const isOld = 'd.id = ANY($1::uuid[]) AND NOT EXISTS (SELECT FROM ledger.webhook_due due WHERE due.delivery_id = d.id)'
  const removed = await tx.query(`DELETE FROM ledger.webhook_deliveries d WHERE ${isOld} AND d.call_id IS NULL`, values)
  const emptied = await tx.query(`UPDATE ledger.webhook_deliveries d SET body = NULL WHERE ${isOld}`, values)
  return (removed.rowCount ?? 0) + (emptied.rowCount ?? 0)
}
