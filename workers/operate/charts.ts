// The last 24 hours of the delivery log, by the hour: how attempts ended, and how long calls waited for their webhook.
import type { Pool } from 'pg'

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
