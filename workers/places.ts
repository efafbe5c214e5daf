// Which due deliveries are queued: at most so many of an endpoint and of a user at once, so that nobody takes others' places.
import type { Pool } from 'pg'
import { inTransaction } from '../src/postgres/transaction.js'
import type { Alarm } from './deliveries.js'

export const placesPerEndpoint = 10
export const placesPerUser = 50

const lockSpace = 0x77_68 // any number that nobody else uses for advisory locks with two keys

/**
 * Gives free places to what is due, the longest waiting first, and raises the wake-ups. A delivery keeps its place
 * until its outcome is written. Counting and taking is serial per user.
 * @returns the wake-ups to be queued
 */
export async function takePlaces (pool: Pool, userIds: string[]): Promise<Alarm[]> {
  return inTransaction(pool, async (tx) => {
    await tx.query(`
      SELECT pg_advisory_xact_lock($1, key)
      FROM (SELECT DISTINCT hashtext(user_id) AS key FROM unnest($2::text[]) AS u (user_id) ORDER BY 1) AS keys`, [lockSpace, userIds])
    const { rows } = await tx.query<{ id: string, n: number, wakeup: number }>({
      name: 'take-places', text: takeSql, values: [userIds, placesPerEndpoint, placesPerUser]
    })
    return rows.map(({ id, n, wakeup }) => ({ deliveryId: id, n, wakeup }))
  })
}

// `waiting` hops from endpoint to endpoint in the index, so its cost is the number of endpoints that wait and not
// the number of their deliveries.
const takeSql = `
  WITH RECURSIVE waiting (user_id, endpoint_id) AS (
    SELECT u.user_id, first.endpoint_id
    FROM unnest($1::text[]) AS u (user_id)
    CROSS JOIN LATERAL (
      SELECT endpoint_id FROM ledger.webhook_deliveries
      WHERE user_id = u.user_id AND status = 'scheduled' AND queued_at IS NULL ORDER BY endpoint_id LIMIT 1) first
    UNION
    SELECT w.user_id, next.endpoint_id
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT endpoint_id FROM ledger.webhook_deliveries
      WHERE user_id = w.user_id AND endpoint_id > w.endpoint_id AND status = 'scheduled' AND queued_at IS NULL
      ORDER BY endpoint_id LIMIT 1) next
  ), due AS (
    SELECT w.user_id, d.id, row_number() OVER (PARTITION BY w.user_id ORDER BY d.next_attempt_at, d.id) AS place
    FROM waiting w
    CROSS JOIN LATERAL (
      SELECT count(*) AS taken FROM ledger.webhook_deliveries q
      WHERE q.user_id = w.user_id AND q.endpoint_id = w.endpoint_id AND q.queued_at IS NOT NULL) busy
    CROSS JOIN LATERAL (
      SELECT id, next_attempt_at FROM ledger.webhook_deliveries
      WHERE user_id = w.user_id AND endpoint_id = w.endpoint_id AND status = 'scheduled' AND queued_at IS NULL
        AND next_attempt_at <= clock_timestamp()
      ORDER BY next_attempt_at LIMIT greatest(0, $2 - busy.taken)) d
  ), users AS (
    SELECT u.user_id, (SELECT count(*) FROM ledger.webhook_deliveries q WHERE q.user_id = u.user_id AND q.queued_at IS NOT NULL) AS taken
    FROM (SELECT DISTINCT * FROM unnest($1::text[])) AS u (user_id)
  )
  UPDATE ledger.webhook_deliveries d
  SET queued_at = clock_timestamp(), wakeup = wakeup + 1
  -- by primary key: an equality on status would tempt the planner to search all that is due, row by row
  WHERE d.id = ANY (ARRAY (SELECT due.id FROM due JOIN users USING (user_id) WHERE due.place <= $3 - users.taken))
    AND d.status NOT IN ('delivered', 'held', 'exhausted', 'cancelled', 'skipped')
  RETURNING d.id, d.attempt_count + 1 AS n, d.wakeup`

/** Gives places back, for wake-ups that could not be queued or have vanished from the queue. */
export async function giveBack (pool: Pool, alarms: Alarm[]): Promise<number> {
  if (alarms.length === 0) return 0
  const { rowCount } = await pool.query(`
    UPDATE ledger.webhook_deliveries d SET queued_at = NULL
    FROM unnest($1::uuid[], $2::integer[]) AS alarm (id, wakeup)
    WHERE d.id = alarm.id AND d.wakeup = alarm.wakeup AND d.started_at IS NULL AND d.queued_at IS NOT NULL`,
  [alarms.map(({ deliveryId }) => deliveryId), alarms.map(({ wakeup }) => wakeup)])
  return rowCount ?? 0
}

/** Wake-ups that were sent more than `olderThanMs` ago and that no attempt followed. */
export async function unansweredAlarms (pool: Pool, olderThanMs: number): Promise<Alarm[]> {
  const { rows } = await pool.query<{ id: string, n: number, wakeup: number }>(`
    SELECT id, attempt_count + 1 AS n, wakeup FROM ledger.webhook_deliveries
    WHERE queued_at < clock_timestamp() - $1 * interval '1 ms' AND started_at IS NULL`, [olderThanMs])
  return rows.map(({ id, n, wakeup }) => ({ deliveryId: id, n, wakeup }))
}

/** Users with something due that has no place yet. */
export async function usersWithDue (pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ user_id: string }>(`
    SELECT DISTINCT user_id FROM ledger.webhook_deliveries
    WHERE status = 'scheduled' AND queued_at IS NULL AND next_attempt_at <= clock_timestamp()`)
  return rows.map(({ user_id }) => user_id)
}
