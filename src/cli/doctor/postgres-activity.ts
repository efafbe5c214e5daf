// What holds others up in Postgres now: locks that are waited for, and transactions that stay open.
import type pg from 'pg'
import { warning, type Check, type Found } from './check.js'

/** Longer than any of the service waits for another; those that wait are cut off after five, and begin again. */
const waitsS = 1
/** Longer than any of the service keeps others from a whole table. */
const holdsS = 5
/** Replays and backups hold a snapshot for long, and nothing else of the service does. */
const openS = 3_600

export const activity = (pool: pg.Pool): Check[] => [
  ['locks', () => locks(pool)],
  ['open transactions', () => openTransactions(pool)]
]

async function locks (pool: pg.Pool): Promise<Found> {
  const { rows: [row] } = await pool.query<{ waiting: number, longest: number, holders: string | null }>(`
    SELECT count(DISTINCT waiter.pid)::integer AS waiting, string_agg(DISTINCT holder::text, ', ') AS holders,
           coalesce(max(extract(epoch FROM clock_timestamp() - waiter.query_start)), 0)::integer AS longest
    FROM pg_stat_activity waiter, unnest(pg_blocking_pids(waiter.pid)) holder
    WHERE waiter.datname = current_database() AND waiter.wait_event_type = 'Lock'
      AND waiter.query_start < clock_timestamp() - make_interval(secs => $1)
      AND holder NOT IN (SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock')`, [waitsS])
  if (!row?.waiting) return await heldTables(pool)
  const { waiting, longest, holders } = row
  return warning(`statements that wait: ${waiting}, the longest for ${longest} s, for process ${holders}`, mend)
}

const mend = 'pg_stat_activity says who that is (pid); SELECT pg_terminate_backend(pid) ends it.'

/** What the service tries is given up and tried again: mostly nobody waits, and nothing gets on all the same. */
async function heldTables (pool: pg.Pool): Promise<Found> {
  const { rows: [row] } = await pool.query<{ holders: string | null }>(`
    SELECT string_agg(DISTINCT pid::text, ', ') AS holders FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE datname = current_database() AND locktype = 'relation' AND mode = 'AccessExclusiveLock' AND granted
      AND xact_start < clock_timestamp() - make_interval(secs => $1)`, [holdsS])
  if (!row?.holders) return 'nobody waits for one'
  return warning(`whole tables are locked for more than ${holdsS} s by process ${row.holders}`, mend)
}

async function openTransactions (pool: pg.Pool): Promise<Found> {
  const { rows } = await pool.query<{ pid: number, state: string, seconds: number }>(`
    SELECT pid, state, extract(epoch FROM clock_timestamp() - xact_start)::integer AS seconds FROM pg_stat_activity
    WHERE datname = current_database() AND xact_start < clock_timestamp() - make_interval(secs => $1)
    ORDER BY xact_start LIMIT 5`, [openS])
  if (rows.length === 0) return 'none for longer than an hour'
  const named = rows.map(({ pid, state, seconds }) => `process ${pid}, ${state}, for ${Math.round(seconds / 60)} min`)
  return warning(named.join('; '), 'They keep vacuum from what was deleted since. End those that nobody needs, such as a dump that hangs.')
}
