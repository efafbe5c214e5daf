// The delivery log in numbers: for operators, for the metrics, and by the hour of the last day.
import type { Pool } from 'pg'

export interface Stats {
  statuses: Record<string, number>
  /**
   * Attempts whose time has come: those that wait, and those that are queued or running. While an endpoint is paused,
   * nothing of it is due by the schedule.
   */
  due: { waiting: number, under_way: number, oldest: string | null }
  suspended_endpoints: number
}

const statuses = ['scheduled', 'delivered', 'held', 'exhausted', 'cancelled', 'skipped']

interface DueRow { waiting: number, under_way: number, oldest: Date | null, suspended: number }

export async function webhookStats (pool: Pool): Promise<Stats> {
  const counts = await countByStatus(pool)
  const { rows: [due] } = await pool.query<DueRow>(dueSql)
  return {
    statuses: Object.fromEntries(statuses.map((status) => [status, counts.get(status) ?? 0])),
    due: { waiting: due?.waiting ?? 0, under_way: due?.under_way ?? 0, oldest: due?.oldest?.toISOString() ?? null },
    suspended_endpoints: due?.suspended ?? 0
  }
}

async function countByStatus (pool: Pool): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ status: string, count: string }>(
    'SELECT status, count(*) FROM ledger.webhook_deliveries GROUP BY status')
  return new Map(rows.map(({ status, count }) => [status, Number(count)]))
}

const dueSql = `
  SELECT count(*) FILTER (WHERE queued_at IS NULL)::integer AS waiting, count(queued_at)::integer AS under_way,
         min(due_at) AS oldest,
         (SELECT count(*) FROM ledger.webhook_endpoints WHERE suspended_at IS NOT NULL)::integer AS suspended
  FROM (SELECT queued_at, greatest(next_attempt_at, paused_until) AS due_at
        FROM ledger.webhook_deliveries d
        LEFT JOIN (SELECT id AS endpoint_id, paused_until FROM ledger.webhook_endpoints
                   WHERE paused_until IS NOT NULL) pauses USING (endpoint_id)
        WHERE status = 'scheduled' AND next_attempt_at <= clock_timestamp()
          AND (queued_at IS NOT NULL OR coalesce(paused_until <= clock_timestamp(), true))
        UNION ALL
        SELECT queued_at, due_at FROM ledger.webhook_attempts_on_demand
        WHERE due_at <= clock_timestamp()) attempts`

/** What waits, for the metrics; `oldestSeconds` is since when the attempt that is due longest is. */
export async function countDue (
  pool: Pool
): Promise<{ waiting: number, underWay: number, oldestSeconds: number, suspended: number, parked: number }> {
  const { rows: [due] } = await pool.query<DueRow & { parked: number, seconds: number | null }>(`
    SELECT due.*, extract(epoch FROM clock_timestamp() - oldest)::float8 AS seconds,
           (SELECT count(*)::integer FROM ledger.parked_events WHERE consumer = 'dispatcher') AS parked
    FROM (${dueSql}) due`)
  return {
    waiting: due?.waiting ?? 0,
    underWay: due?.under_way ?? 0,
    oldestSeconds: Math.max(0, due?.seconds ?? 0),
    suspended: due?.suspended ?? 0,
    parked: due?.parked ?? 0
  }
}

/** What the queue does now. Times in ISO 8601. */
export interface QueueStatus {
  /** Attempts that are due and wait for a slot. */
  due: number
  /** Attempts that have a slot and have not begun. */
  queued: number
  in_flight: number
  held: number
  oldest_due: string | null
  suspended_endpoints: number
}

export async function queueStatus (pool: Pool): Promise<QueueStatus> {
  const { rows: [row] } = await pool.query<DueRow & { in_flight: number, held: number }>(`
    SELECT due.*,
           (SELECT count(*)::integer FROM ledger.webhook_deliveries
            WHERE queued_at IS NOT NULL AND started_at IS NOT NULL) +
           (SELECT count(*)::integer FROM ledger.webhook_attempts_on_demand
            WHERE started_at IS NOT NULL) AS in_flight,
           (SELECT count(*)::integer FROM ledger.webhook_deliveries WHERE status = 'held') AS held
    FROM (${dueSql}) due`)
  const { waiting = 0, under_way: underWay = 0, in_flight: inFlight = 0, held = 0 } = row ?? {}
  return {
    due: waiting,
    queued: Math.max(0, underWay - inFlight),
    in_flight: inFlight,
    held,
    oldest_due: row?.oldest?.toISOString() ?? null,
    suspended_endpoints: row?.suspended ?? 0
  }
}

/** Deliveries that are not finished, by status. */
export async function countPending (pool: Pool): Promise<{ status: string, count: number }[]> {
  const { rows } = await pool.query<{ status: string, count: number }>(`
    SELECT status, count(*)::int AS count FROM ledger.webhook_deliveries
    WHERE status IN ('scheduled', 'held') GROUP BY status`)
  return rows
}

/** Attempts of the last five minutes, by outcome; `running` has no outcome yet. */
export async function countRecentAttempts (pool: Pool): Promise<{ outcome: string, count: number }[]> {
  const { rows } = await pool.query<{ outcome: string, count: number }>(`
    SELECT coalesce(outcome, 'running') AS outcome, count(*)::int AS count FROM ledger.all_webhook_attempts
    WHERE started_at > now() - interval '5 minutes' GROUP BY outcome`)
  return rows
}

export interface DeliveryHour {
  /** When it begins, ISO 8601. */
  hour: string
  /** Attempts that were started in it, by outcome. Where only a part was looked at, an estimate. */
  attempts: Record<string, number>
  /** From the row of a call to the end of the attempt that delivered it, in seconds; null where none was. */
  latency: { p50: number, p99: number } | null
}

export interface DeliveryDay {
  hours: DeliveryHour[]
  /** 1 when every attempt was looked at, less when a sample was. */
  share: number
}

/** More are not read for a chart: of a larger log it is drawn from a sample. */
const mostAttempts = 100_000

interface Row { hour: Date, outcomes: Record<string, number> | null, p50: number | null, p99: number | null }

/**
 * By an estimate of how many attempts there are, all of them or a sample of their pages are read. `TABLESAMPLE` takes
 * no sub-select, so the share is a number in the text.
 */
export async function deliveryDay (pool: Pool): Promise<DeliveryDay> {
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

/** Of the months that the last 24 hours are in, as far as Postgres knows. */
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
    SELECT delivery_id, date_trunc('hour', started_at) AS hour, finished_at, outcome
    FROM ledger.webhook_attempts ${share < 1 ? `TABLESAMPLE SYSTEM (${(share * 100).toFixed(6)})` : ''}
    WHERE started_at >= date_trunc('hour', now()) - interval '23 hours'),
  outcomes AS (
    SELECT hour, json_object_agg(outcome, n) AS outcomes
    FROM (SELECT hour, outcome, count(*) AS n FROM recent GROUP BY hour, outcome) counted GROUP BY hour),
  latencies AS (
    SELECT recent.hour, percentile_cont(ARRAY[0.5, 0.99]) WITHIN GROUP (
             ORDER BY extract(epoch FROM recent.finished_at - d.created_at)::float8) AS seconds
    FROM recent JOIN ledger.webhook_deliveries d ON d.id = recent.delivery_id
    WHERE recent.outcome = 'delivered' GROUP BY recent.hour)
  SELECT hour, outcomes, seconds[1] AS p50, seconds[2] AS p99
  FROM hours LEFT JOIN outcomes USING (hour) LEFT JOIN latencies USING (hour) ORDER BY hour`
