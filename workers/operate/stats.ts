// The delivery log in numbers: for operators, for the metrics, and by the hour of the last day.
import type { Pool } from 'pg'
import { bounds } from '../deliveries/claim.js'
import { isClosed, isHeld } from '../deliveries/read.js'
import { nextOnes, servableSql } from '../deliveries/reconcile.js'
import { isFailing } from '../deliveries/webhooks.js'

const none = { scheduled: 0, delivered: 0, held: 0, exhausted: 0, cancelled: 0, skipped: 0 }

export async function webhookStats (pool: Pool) {
  const { rows: counts } = await pool.query<{ status: string, count: string }>(`
    SELECT CASE WHEN ${isHeld} THEN 'held' ELSE status END AS status, count(*) FROM ledger.webhook_deliveries d GROUP BY 1`)
  const { waiting, running, oldest, suspended, failing } = await countDue(pool)
  const statuses = { ...none, ...Object.fromEntries(counts.map(({ status, count }) => [status, Number(count)])) }
  const due = { waiting, under_way: running, oldest: oldest?.toISOString() ?? null }
  return { statuses, due, suspended_endpoints: suspended, failing_endpoints: failing }
}

export interface Due {
  /** Attempts that workers could make now, within the bounds of receivers and users. */
  waiting: number
  running: number
  /** When the attempt that waits longest became due, and how long ago that is. */
  oldest: Date | null
  oldestSeconds: number
  /** Webhooks that nothing is sent to, and others that failed three times or more since their last success. */
  suspended: number
  failing: number
  /** Parked events of the dispatcher. */
  parked: number
}

const mostAssistants = 100_000

const dueSql = `${servableSql(nextOnes)}, waiting AS (
    SELECT s.user_id, min(${bounds.ofUser} - s.count) AS room, sum(due.count) AS count, min(due.oldest) AS oldest
    FROM servable s JOIN ledger.webhooks w USING (assistant_id)
    LEFT JOIN running r USING (assistant_id)
    CROSS JOIN LATERAL (
      SELECT count(*) AS count, min(due_at) AS oldest FROM (
        SELECT due_at FROM ledger.webhook_due
        WHERE assistant_id = s.assistant_id AND worker IS NULL AND crashes < 2 AND trigger = 'schedule' AND due_at <= now()
        ORDER BY due_at LIMIT CASE WHEN w.failing_since IS NULL THEN ${bounds.ofAssistant} - coalesce(r.count, 0) ELSE 1 END) first) due
    WHERE s.nth <= ${bounds.ofUser} - s.count GROUP BY s.user_id
    UNION ALL
    SELECT user_id, ${bounds.ofUser}, count(*), min(due_at) FROM ledger.webhook_due
    WHERE worker IS NULL AND crashes < 2 AND trigger <> 'schedule' AND due_at <= now() GROUP BY user_id
  )
  SELECT sum(least(room, count))::integer AS waiting, min(oldest) AS oldest,
    greatest(0, extract(epoch FROM now() - min(oldest)))::float8 AS "oldestSeconds",
    (SELECT coalesce(sum(count), 0)::integer FROM running) AS running,
    (SELECT count(*)::integer FROM ledger.webhooks
     WHERE suspended_at IS NOT NULL AND off_since IS NULL AND deleted_at IS NULL) AS suspended,
    (SELECT count(*)::integer FROM ledger.webhooks WHERE ${isFailing}) AS failing,
    (SELECT count(*)::integer FROM ledger.parked_events WHERE consumer = 'dispatcher') AS parked
  FROM waiting`

export async function countDue (pool: Pool): Promise<Due> {
  const { rows: [due] } = await pool.query<Due>(dueSql, ['0', mostAssistants])
  if (!due) throw new Error('a count gave no row')
  return { ...due, waiting: due.waiting ?? 0, oldestSeconds: due.oldestSeconds ?? 0 }
}

/** What the queue does now: `due` are attempts that a worker could make. Times in ISO 8601. */
export async function queueStatus (pool: Pool) {
  const [due, pending] = await Promise.all([countDue(pool), countPending(pool)])
  const { waiting, running, oldest, suspended, failing } = due
  return {
    due: waiting,
    in_flight: running,
    held: pending.find(({ status }) => status === 'held')?.count ?? 0,
    oldest_due: oldest?.toISOString() ?? null,
    suspended_endpoints: suspended,
    failing_endpoints: failing
  }
}

/** Deliveries that are not finished, by status as it is shown. */
export async function countPending (pool: Pool): Promise<{ status: string, count: number }[]> {
  const { rows } = await pool.query<{ status: string, count: number }>(`
    WITH pending AS MATERIALIZED (
      SELECT assistant_id, trigger, count(*) AS count FROM ledger.webhook_due
      WHERE trigger IN ('schedule', 'test') GROUP BY assistant_id, trigger
    ), shown AS (
      SELECT CASE WHEN trigger = 'schedule' AND ${isClosed('w')} THEN 'held' ELSE 'scheduled' END AS status, count
      FROM pending LEFT JOIN ledger.webhooks w USING (assistant_id)
      UNION ALL SELECT 'held', count(*) FROM ledger.webhook_deliveries WHERE status = 'held'
      UNION ALL SELECT 'scheduled', 0
    )
    SELECT status, sum(count)::integer AS count FROM shown GROUP BY status ORDER BY status`)
  return rows
}

/** Attempts of the last five minutes, by outcome; `running` has no outcome yet. */
export async function countRecentAttempts (pool: Pool): Promise<{ outcome: string, count: number }[]> {
  const { rows } = await pool.query<{ outcome: string, count: number }>(`
    SELECT outcome, count(*)::integer AS count FROM ledger.webhook_attempts
    WHERE started_at > now() - interval '5 minutes' GROUP BY outcome
    UNION ALL
    SELECT 'running', count(*)::integer FROM ledger.webhook_due WHERE worker IS NOT NULL HAVING count(*) > 0`)
  return rows
}

/** A chart reads no more; it samples a larger log. */
const mostAttempts = 100_000

interface Row { hour: Date, outcomes: Record<string, number> | null, p50: number | null, p99: number | null }

/**
 * For each hour, the attempts that started in it, by outcome, and the seconds from the row of a call to the end of the
 * attempt that delivered it. It reads all attempts, or a `share` if there seem to be too many; numbers are then
 * estimates. `TABLESAMPLE` takes no sub-select, so the share is a number in the text.
 */
export async function deliveryDay (pool: Pool) {
  const share = Math.min(1, mostAttempts / Math.max(await estimatedAttempts(pool), 1))
  const { rows } = await pool.query<Row>(sql(share))
  return {
    share,
    hours: rows.map(({ hour, outcomes, p50, p99 }) => ({
      hour: hour.toISOString(),
      attempts: Object.fromEntries(Object.entries(outcomes ?? {}).map(([name, n]) => [name, Math.round(n / share)])),
      latency: p50 === null || p99 === null ? null : { p50, p99 }
    }))
  }
}

/** By Postgres's statistics of the months that the last 24 hours are in. */
async function estimatedAttempts (pool: Pool): Promise<number> {
  const { rows: [found] } = await pool.query<{ attempts: number | null }>(`
    SELECT sum(greatest(reltuples, 0))::float8 AS attempts FROM pg_class
    WHERE relnamespace = 'ledger'::regnamespace AND relname IN (
      'webhook_attempts_' || to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM'),
      'webhook_attempts_' || to_char((now() - interval '1 day') AT TIME ZONE 'UTC', 'YYYY_MM'))`)
  return found?.attempts ?? 0
}

const sql = (share: number) => `
  WITH hours AS (
    SELECT generate_series(date_trunc('hour', now()) - interval '23 hours', date_trunc('hour', now()), '1 hour') AS hour),
  recent AS (
    SELECT delivery_id, trigger, date_trunc('hour', started_at) AS hour, finished_at, outcome
    FROM ledger.webhook_attempts ${share < 1 ? `TABLESAMPLE SYSTEM (${(share * 100).toFixed(6)})` : ''}
    WHERE started_at >= date_trunc('hour', now()) - interval '23 hours'),
  outcomes AS (
    SELECT hour, json_object_agg(outcome, n) AS outcomes
    FROM (SELECT hour, outcome, count(*) AS n FROM recent GROUP BY hour, outcome) counted GROUP BY hour),
  latencies AS (
    SELECT recent.hour, percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (
             ORDER BY extract(epoch FROM recent.finished_at - d.created_at)::float8) AS seconds
    FROM recent JOIN ledger.webhook_deliveries d ON d.id = recent.delivery_id
    WHERE recent.outcome = 'delivered' AND recent.trigger = 'schedule' GROUP BY recent.hour)
  SELECT hour, outcomes, seconds[1] AS p50, seconds[2] AS p99
  FROM hours LEFT JOIN outcomes USING (hour) LEFT JOIN latencies USING (hour) ORDER BY hour`
