// Attempts whose worker did not tell the outcome: it was killed, or ended by the very delivery. They are closed here.
import type { Pool } from 'pg'
import { insertOnceMore } from './on-demand.js'

/**
 * A delivery that ends its worker so often in a row is held, and attempted again only when somebody asks for it. The
 * function `ledger.acquire_slots` counts on the same number.
 */
const mostCrashes = 3

/** The age from which an attempt without an outcome has no worker any more, in milliseconds. */
export const abandonedAfter = ({ timeoutMs }: { timeoutMs: number }) => 2 * timeoutMs

/** What was closed: how many attempts, and the deliveries that are given up as `crashed`. */
export interface Closed { attempts: number, crashed: string[] }

/**
 * A condition on an attempt: it started more than `$1` milliseconds before `$2`. A Postgres that was frozen may get to
 * the statement much later, and before the workers could write their outcomes: then it applies to none.
 */
const isAbandoned = `started_at < $2::timestamptz - $1 * interval '1 ms'
        AND clock_timestamp() < $2::timestamptz + interval '5 s'`

const silence = 'the worker did not tell the outcome'

/** Counts a crash of the delivery `d`, which is held after the last one that it may have. */
const counting = `
        crash_count = d.crash_count + 1,
        status = CASE WHEN ${isHeld()} THEN 'held' ELSE d.status END,
        reason = CASE WHEN ${isHeld()} THEN 'crashed' ELSE d.reason END,
        held_at = CASE WHEN ${isHeld()} THEN coalesce(d.held_at, clock_timestamp()) ELSE d.held_at END`

function isHeld (): string {
  return `d.crash_count + 1 >= ${mostCrashes} AND d.status IN ('scheduled', 'held')`
}

/** Tells of the deliveries that were `counted`, and answers what was closed. */
const telling = `
    told AS (
      INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
      SELECT user_id, 'delivery_exhausted', assistant_id, id, 'crashed' FROM counted
      WHERE crash_count = ${mostCrashes} AND call_id IS NOT NULL
    )
    SELECT (SELECT count(*) FROM stuck)::integer AS attempts,
           ARRAY(SELECT id::text FROM counted WHERE crash_count = ${mostCrashes}) AS crashed`

/**
 * Closes attempts of the schedule that started more than `olderThanMs` before `now` and have no outcome, as `unknown`:
 * that counts no failure, and the next attempt is due at once.
 */
export async function closeUnknown (pool: Pool, olderThanMs: number, now: Date): Promise<Closed> {
  return await close(pool, `
    WITH stuck AS (
      SELECT id, attempt_count, endpoint_id, worker_token, started_at FROM ledger.webhook_deliveries
      WHERE queued_at IS NOT NULL AND ${isAbandoned}
      FOR UPDATE SKIP LOCKED
    ), closed AS (
      INSERT INTO ledger.webhook_attempts
        (delivery_id, n, endpoint_id, worker_token, started_at, finished_at, outcome, error)
      SELECT id, attempt_count, endpoint_id, worker_token, started_at, clock_timestamp(), 'unknown', '${silence}'
      FROM stuck
    ), counted AS (
      UPDATE ledger.webhook_deliveries d
      SET started_at = NULL, worker_token = NULL, queued_at = NULL,
          next_attempt_at = CASE
            WHEN d.status IN ('scheduled', 'held') THEN clock_timestamp()
            ELSE d.next_attempt_at END,${counting}
      FROM stuck WHERE d.id = stuck.id
      RETURNING d.id, d.call_id, d.user_id, d.assistant_id, d.crash_count
    ),${telling}`, [olderThanMs, now])
}

/**
 * Closes attempts on demand that started more than `olderThanMs` before `now` and have no outcome, as `unknown`, and
 * inserts each once more, unless its delivery has ended too many workers, or was erased.
 */
export async function closeUnknownOnDemand (pool: Pool, olderThanMs: number, now: Date): Promise<Closed> {
  return await close(pool, `
    WITH stuck AS (
      SELECT a.delivery_id, a.trigger, a.n
      FROM ledger.webhook_attempts_on_demand a JOIN ledger.webhook_deliveries d ON d.id = a.delivery_id
      WHERE a.${isAbandoned}
      FOR NO KEY UPDATE SKIP LOCKED -- of both, as an outcome that is being written has locked the delivery
    ), ended AS (
      DELETE FROM ledger.webhook_attempts_on_demand a
      USING stuck WHERE (a.delivery_id, a.trigger, a.n) = (stuck.delivery_id, stuck.trigger, stuck.n)
      RETURNING a.delivery_id, a.trigger, a.n, a.endpoint_id, a.user_id, a.assistant_id, a.worker_token, a.started_at
    ), written AS (
      INSERT INTO ledger.webhook_attempts
        (delivery_id, trigger, n, endpoint_id, worker_token, started_at, finished_at, outcome, error)
      SELECT delivery_id, trigger, n, endpoint_id, worker_token, started_at, clock_timestamp(), 'unknown', '${silence}'
      FROM ended
    ), counted AS (
      UPDATE ledger.webhook_deliveries d SET${counting}
      FROM (SELECT DISTINCT delivery_id FROM ended) e WHERE d.id = e.delivery_id
      RETURNING d.id, d.call_id, d.user_id, d.assistant_id, d.crash_count, d.body IS NOT NULL AS has_body
    ), closed AS (
      SELECT ended.* FROM ended JOIN counted ON counted.id = delivery_id WHERE crash_count < ${mostCrashes} AND has_body
    ), again AS (${insertOnceMore('0')}
    ),${telling}`, [olderThanMs, now])
}

async function close (pool: Pool, sql: string, values: [olderThanMs: number, now: Date]): Promise<Closed> {
  const { rows: [closed] } = await pool.query<Closed>(sql, values)
  return closed ?? { attempts: 0, crashed: [] }
}
