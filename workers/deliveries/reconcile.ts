// Finds assistants that have something due but no job, as the queue may have lost everything. It steps from assistant
// to assistant, so a million deliveries of one cost no more than one. It alone looks at rows that were due before
// `due_from`: their transaction took longer than a minute.
import type { Pool } from 'pg'
import { bounds, idsIn, isOpen, refill } from './claim.js'
import { executeIndexed } from './indexed.js'
import { mostAtOnce } from './webhooks.js'

const assistantsAtOnce = 10_000

const firstDue = (which: string) => `
      SELECT assistant_id, due_at FROM ledger.webhook_due
      WHERE assistant_id ${which} AND worker IS NULL AND crashes < 2 AND trigger = 'schedule'
      ORDER BY assistant_id, due_at LIMIT 1`

/** Steps from `$1` on, to `$2` assistants at most. */
export const nextOnes = `
    SELECT first.*, 1 FROM (${firstDue('> $1')}) first
    UNION ALL
    SELECT next.*, nth + 1 FROM pending CROSS JOIN LATERAL (${firstDue('> pending.assistant_id')}) next WHERE nth < $2`

const theseOnes = `
    SELECT first.*, 1 FROM unnest($1::bigint[]) AS asked (id) JOIN ledger.webhooks asked_of ON asked_of.assistant_id = asked.id
    CROSS JOIN LATERAL (${firstDue('= asked.id AND due_at >= asked_of.due_from')}) first`

/** The assistants with something due that a claim would serve. */
export const servableSql = (pending: string) => `
  WITH RECURSIVE pending (assistant_id, due_at, nth) AS (${pending}
  ), running AS MATERIALIZED (
    SELECT user_id, assistant_id, count(*) AS count, count(*) FILTER (WHERE trigger = 'schedule') AS scheduled
    FROM ledger.webhook_due WHERE worker IS NOT NULL GROUP BY user_id, assistant_id
  ), of_user AS MATERIALIZED (
    SELECT user_id, sum(count) AS count FROM running GROUP BY user_id
  ), servable AS (
    SELECT w.assistant_id, w.user_id, w.waits_since, coalesce(u.count, 0) AS count,
           row_number() OVER (PARTITION BY w.user_id ORDER BY coalesce(w.waits_since, p.due_at), w.assistant_id) AS nth
    FROM pending p JOIN ledger.webhooks w USING (assistant_id)
    LEFT JOIN running r USING (user_id, assistant_id)
    LEFT JOIN of_user u USING (user_id)
    WHERE p.due_at <= now() AND ${isOpen('w')}
      AND (w.max_per_second IS NULL
        OR w.tokens + extract(epoch FROM now() - w.tokens_at) * ${refill('w')} >= 1)
      AND coalesce(r.count, 0) < CASE WHEN coalesce(u.count, 0) < ${bounds.shared} THEN ${bounds.ofAssistant} ELSE ${bounds.firstOnes} END
      AND (w.failing_since IS NULL OR coalesce(r.scheduled, 0) < ${bounds.ofFailing})
  )`

const stepSql = `${servableSql(nextOnes)}, marked AS (
    UPDATE ledger.webhooks w SET waits_since = now() WHERE w.assistant_id IN (
      SELECT x.assistant_id FROM servable s JOIN ledger.webhooks x USING (assistant_id)
      WHERE nth > ${bounds.ofUser} - count AND x.waits_since IS NULL
      LIMIT ${mostAtOnce} FOR NO KEY UPDATE OF x SKIP LOCKED)
  ), lowered AS (
    UPDATE ledger.webhooks w SET due_from = p.due_at FROM pending p
    WHERE w.assistant_id = p.assistant_id AND p.due_at < w.due_from
  )
  SELECT (SELECT max(assistant_id)::text FROM pending) AS last, (SELECT count(*) FROM pending) = $2 AS goes_on,
    (SELECT json_agg(assistant_id::text ORDER BY nth) FROM servable WHERE nth <= ${bounds.ofUser} - count) AS found`

/** Assistants that a claim would serve now: the longest unserved of each user, as many as have room. Others wait. */
export async function findWaiting (pool: Pool, signal?: AbortSignal): Promise<string[]> {
  const { rows: onDemand } = await pool.query<{ id: string }>(`
    SELECT DISTINCT assistant_id::text AS id FROM ledger.webhook_due
    WHERE worker IS NULL AND crashes < 2 AND trigger <> 'schedule' AND due_at <= now()`)
  const all = onDemand.map(({ id }) => id)
  for (let after = '0', goesOn = true; goesOn && !signal?.aborted;) {
    const [[step]] = await executeIndexed<[Step]>(pool, preparing, `EXECUTE find_waiting(${after}, ${assistantsAtOnce})`)
    all.push(...step?.found ?? [])
    after = step?.last ?? after
    goesOn = step?.goes_on ?? false
  }
  return all
}

/**
 * Those of these assistants that a claim would serve now, as the queue ignores what comes while one has a job. An
 * outcome names those that wait for room, once there is some.
 */
export async function findAgain (pool: Pool, assistants: readonly string[]): Promise<string[]> {
  const [found] = await executeIndexed<[{ id: string }]>(pool, preparing, `EXECUTE find_again(${idsIn(assistants)})`)
  return found.map(({ id }) => id)
}

interface Step { last: string | null, goes_on: boolean, found: string[] | null }

const preparing = `PREPARE find_waiting (bigint, bigint) AS ${stepSql};
PREPARE find_again (bigint[]) AS ${servableSql(theseOnes)}
  SELECT assistant_id::text AS id FROM servable WHERE waits_since IS NULL AND nth <= ${bounds.ofUser} - count`
