// The delivery log in numbers: for operators, and for the metrics.
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
