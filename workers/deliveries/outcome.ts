// Records the outcomes of attempts: one statement for all that ended since the last one. It may be repeated, and it
// changes only what its attempts still hold, whatever else runs meanwhile.
import type { Pool } from 'pg'
import type { Notice } from '../../src/features/webhooks/model.js'
import type { Judgement, Outcome } from '../../src/features/webhooks/outcome.js'
import { beginning, bounds, failuresOf, heldAfter, isOpen, runs, suspectAfter, type Attempt } from './claim.js'
import { mostAtOnce } from './webhooks.js'

export interface Ended {
  attempt: Omit<Attempt, 'body'>
  judgement: Judgement
  outcome: Outcome
  status_code: number | null
  duration_ms: number
  error: string | null
  excerpt: string | null
  truncated: boolean
}

export type NewNotice = Omit<Notice, 'id' | 'at'> & { user_id: string }

export interface Recorded {
  /** Attempts whose outcome was stored. Others had been closed as `unknown`, or come a second time. */
  kept: Ended[]
  /** Assistants of the same users that have something due now. */
  next: string[]
  notices: NewNotice[]
}

/** If a webhook has only failed for so long, the next failure suspends it. */
const suspendAfter = '5 days'
const failuresUntilTold = 3
/** A dead connection must not delay for longer what the next one can write. */
const answerWithinMs = 5_000

/** Two attempts of one delivery may come together. */
export async function recordOutcomes (pool: Pick<Pool, 'query'>, ended: readonly Ended[]): Promise<Recorded> {
  // Parameters, as a literal would be in the log of Postgres when it refuses the statement.
  const values = [JSON.stringify(ended.map(toRow))]
  const query = { name: 'record-outcomes', text: outcomeSql(givenSql), values, query_timeout: answerWithinMs }
  const { rows: [row] } = await pool.query<RecordedRow>(query)
  const kept = (row?.kept ?? []).flatMap((nth) => ended[nth] ?? [])
  return { next: row?.next ?? [], notices: row?.notices ?? [], kept }
}

/**
 * Closes attempts of workers that are gone as `unknown`. They are made again at once, or held after too many crashes.
 * @returns `isAll`: whether no others are left
 */
export async function closeLost (
  pool: Pick<Pool, 'query'>
): Promise<{ closed: number, isAll: boolean } & Pick<Recorded, 'next' | 'notices'>> {
  const { rows: [row] } = await pool.query<RecordedRow>({ name: 'close-lost', text: outcomeSql(lostSql) })
  const closed = row?.kept?.length ?? 0
  return { next: row?.next ?? [], notices: row?.notices ?? [], closed, isAll: (row?.found ?? 0) < mostAtOnce }
}

interface RecordedRow { kept: number[] | null, next: string[], notices: NewNotice[] | null, found: number }

/** Names each field: an attempt also has a body, secrets and headers, which must not come into a statement. */
const toRow = ({ attempt, judgement: { verdict, usesAttempt, fails, pause }, ...ended }: Ended, nth: number) => {
  const { delivery_id, trigger, n, worker, started_at, assistant_id, user_id, revision, header_names } = attempt
  return {
    delivery_id,
    trigger,
    n,
    worker,
    started_at,
    assistant_id,
    user_id,
    revision,
    header_names,
    ...ended,
    nth,
    url: attempt.url.replace(/[?#].*$/s, ''),
    error: storable(ended.error),
    excerpt: storable(ended.excerpt),
    verdict: verdict.status,
    reason: 'reason' in verdict ? verdict.reason : null,
    in_ms: verdict.status === 'retry' ? verdict.inMs : 0,
    uses_attempt: usesAttempt,
    fails,
    pause_ms: pause?.inMs ?? null,
    pause_reason: pause?.reason ?? null,
    is_crash: false
  }
}

/** Postgres text can hold neither NUL nor half of a surrogate pair. */
const storable = (text: string | null) => text === null ? null : Buffer.from(text.replaceAll('\0', '')).toString()

const ids = `nth integer, delivery_id uuid, trigger text, n integer, worker bigint, started_at timestamptz,
      assistant_id bigint, user_id text`
const told = `revision bigint, url text, header_names text, outcome text, status_code integer, duration_ms integer,
      error text, excerpt text, truncated boolean, verdict text, reason text, in_ms float8, uses_attempt boolean, fails boolean,
      pause_ms float8, pause_reason text, is_crash boolean`

const givenSql = `SELECT *, now() AS now FROM json_to_recordset($1) AS e (${ids}, ${told})`

// No webhook has revision 0, because an unknown outcome says nothing about the webhook.
const lost = {
  ...{ revision: 0, outcome: 'unknown', error: 'the worker did not tell the outcome', truncated: false },
  ...{ verdict: 'retry', in_ms: 0, uses_attempt: false, fails: false, is_crash: true }
}

const lostSql = `
    SELECT row_number() OVER ()::integer - 1 AS nth, delivery_id, trigger, n, worker, started_at, assistant_id, user_id,
      told.*, now() AS now
    FROM ledger.webhook_due d CROSS JOIN json_to_record('${JSON.stringify(lost)}') AS told (${told})
    WHERE worker IS NOT NULL AND NOT EXISTS (SELECT FROM ledger.webhook_workers w WHERE w.id = d.worker)
    LIMIT ${mostAtOnce}`

/** The earlier attempts of a webhook, in the order in which they ended. */
const before = 'PARTITION BY assistant_id ORDER BY ended_at, nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING'
const isHeld = (r: string) => `${r}.is_crash AND ${r}.crashes >= ${heldAfter - 1}`

/**
 * Assistants that wait for room of their user, the longest unserved first, as many as there is room for.
 * @param count running attempts of the user @param running a relation with those of each assistant
 */
const waitingSql = (user: string, count: string, running: string) => `
      SELECT w.assistant_id FROM ledger.webhooks w LEFT JOIN ${running} own USING (user_id, assistant_id)
      WHERE w.user_id = ${user} AND w.waits_since IS NOT NULL AND ${isOpen('w')}
        AND coalesce(own.count, 0) < CASE WHEN w.failing_since IS NOT NULL THEN ${bounds.ofFailing}
          WHEN ${count} < ${bounds.shared} THEN ${bounds.ofAssistant} ELSE ${bounds.firstOnes} END
      ORDER BY w.waits_since
      LIMIT greatest(0, CASE WHEN ${count} < ${bounds.shared} THEN ${bounds.shared} ELSE ${bounds.ofUser} END - ${count})`

/** The assistant `e` with the webhook `w` has something due, or this statement puts something back. */
const isDue = (sign: '=' | '<>') => `(
      (SELECT true FROM ledger.webhook_due d WHERE d.assistant_id = e.assistant_id AND d.worker IS NULL
        AND d.crashes < ${suspectAfter} AND d.trigger ${sign} 'schedule' AND d.due_at <= now()
        ${sign === '=' ? 'AND d.due_at >= w.due_from ' : ''}LIMIT 1) IS TRUE
      OR EXISTS (SELECT FROM again a
        WHERE a.assistant_id = e.assistant_id AND a.trigger ${sign} 'schedule' AND a.due_at <= clock_timestamp()))`

// Lock order: webhooks, deliveries, due rows, by id; each of these CTEs waits for the one before. A healthy webhook
// that succeeds is not locked, so its outcomes and claims do not wait for each other.
// `is_ours`: the due row is still this attempt's. `is_present`: the webhook still has the attempt's revision; a 410 or
// a last failure of another revision is about a former webhook.
const lockedSql = `
  hook AS MATERIALIZED (
    SELECT w.* FROM ledger.webhooks w WHERE w.assistant_id = ANY(ARRAY(SELECT assistant_id FROM ended))
      AND (w.failing_since IS NOT NULL OR w.failures_in_row > 0 OR w.suspended_at IS NOT NULL
        OR w.assistant_id IN (SELECT assistant_id FROM ended WHERE outcome <> 'delivered'))
    ORDER BY w.assistant_id FOR NO KEY UPDATE
  ), delivery AS MATERIALIZED (
    SELECT id, user_id, assistant_id, call_id, status, erased_at FROM ledger.webhook_deliveries
    WHERE id = ANY(ARRAY(SELECT delivery_id FROM ended)) AND (SELECT count(*) FROM hook) >= 0 ORDER BY id FOR NO KEY UPDATE
  ), due AS MATERIALIZED (
    SELECT * FROM ledger.webhook_due
    WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM ended)) AND (SELECT count(*) FROM delivery) >= 0
    ORDER BY delivery_id, trigger FOR UPDATE
  )`

const judgedSql = `
  gated AS (
    SELECT e.*, due.crashes, due.more, due.delivery_id IS NOT NULL AS is_ours, e.trigger = 'schedule' AS is_scheduled,
           e.started_at + coalesce(e.duration_ms * interval '1 ms', now - e.started_at) AS ended_at,
           due.delivery_id IS NOT NULL AND coalesce(e.revision = hook.revision, e.verdict = 'delivered') AS is_of_hook,
           hook.failing_since, hook.succeeded_at
    FROM ended e
    LEFT JOIN due ON (due.delivery_id, due.trigger, due.worker, due.started_at) = (e.delivery_id, e.trigger, e.worker, e.started_at)
    LEFT JOIN hook ON hook.assistant_id = e.assistant_id
  ), suspending AS (
    SELECT *, is_of_hook AND is_scheduled AND (outcome = 'gone' OR (fails AND failing_since <= ended_at - interval '${suspendAfter}'
        AND NOT coalesce(bool_or(outcome = 'delivered' AND is_of_hook) OVER (${before}), false))) AS suspends
    FROM gated
  ), result AS MATERIALIZED (
    SELECT *, is_of_hook AND NOT coalesce(bool_or(suspends) OVER (${before}), false) AS is_present,
           greatest(succeeded_at, max(ended_at) FILTER (WHERE outcome = 'delivered' AND is_of_hook)
             OVER (PARTITION BY assistant_id)) AS last_success
    FROM suspending
  ), health AS MATERIALIZED (
    SELECT r.assistant_id, max(last_success) AS last_success,
           max(ended_at) FILTER (WHERE outcome = 'delivered') AS success,
           (array_agg(r.delivery_id ORDER BY ended_at DESC) FILTER (WHERE outcome = 'delivered'))[1] AS success_of,
           min(ended_at) FILTER (WHERE counts) AS failing_since, max(ended_at) FILTER (WHERE counts) AS failed_at,
           count(*) FILTER (WHERE counts) AS failures,
           (array_agg(r.delivery_id ORDER BY ended_at DESC) FILTER (WHERE counts))[1] AS failed_of,
           max(ended_at + pause_ms * interval '1 ms') FILTER (WHERE is_scheduled) AS paused_until,
           (array_agg(pause_reason ORDER BY ended_at + pause_ms * interval '1 ms' DESC)
             FILTER (WHERE pause_ms IS NOT NULL AND is_scheduled))[1] AS pause_reason,
           (array_agg(outcome ORDER BY ended_at) FILTER (WHERE suspends))[1] AS suspended_by,
           (array_agg(r.delivery_id ORDER BY ended_at) FILTER (WHERE suspends))[1] AS suspended_of,
           coalesce(bool_or(outcome = 'delivered' AND trigger IN ('test', 'probe')), false) AS resumes
    FROM (SELECT *, fails AND is_scheduled AND coalesce(ended_at > last_success, true) AS counts FROM result) r
    WHERE is_present GROUP BY r.assistant_id
  ), changed AS MATERIALIZED (
    SELECT h.*, hook.user_id, hook.suspended_at, hook.failures_in_row AS had_in_row,
           hook.failing_since IS NOT NULL OR hook.failures_in_row > 0 AS was_failing,
           hook.suspended_at IS NULL AND suspended_by IS NOT NULL AS is_suspended,
           hook.suspended_at IS NOT NULL AND resumes AS is_resumed,
           CASE WHEN success IS NULL THEN coalesce(hook.failing_since, h.failing_since)
                WHEN hook.failed_at > success THEN hook.failed_at ELSE h.failing_since END AS now_failing_since,
           least(h.failures + CASE WHEN success IS NULL THEN hook.failures_in_row
             ELSE (coalesce(hook.failed_at > success, false))::integer END, ${failuresUntilTold})::smallint AS in_row
    FROM hook JOIN health h USING (assistant_id)
  )`

const savedSql = `
  hook_saved AS (
    UPDATE ledger.webhooks w
    SET failing_since = CASE WHEN NOT c.is_resumed THEN c.now_failing_since END, failures_in_row = c.in_row,
        failed_at = greatest(w.failed_at, c.failed_at),
        succeeded_at = CASE WHEN c.was_failing THEN c.last_success ELSE w.succeeded_at END,
        paused_until = greatest(w.paused_until, c.paused_until),
        pause_reason = CASE WHEN c.paused_until > coalesce(w.paused_until, '-infinity') THEN c.pause_reason ELSE w.pause_reason END,
        suspended_at = CASE WHEN c.is_suspended THEN now() WHEN NOT c.is_resumed THEN w.suspended_at END,
        suspended_reason = CASE WHEN c.is_suspended THEN CASE c.suspended_by WHEN 'gone' THEN 'gone' ELSE 'failing' END
          WHEN NOT c.is_resumed THEN w.suspended_reason END,
        waits_since = CASE WHEN NOT c.is_suspended THEN w.waits_since END,
        revision = w.revision + (c.is_suspended OR c.is_resumed)::integer,
        restarted_at = CASE WHEN c.is_resumed THEN now() ELSE w.restarted_at END,
        is_hastening = w.is_hastening OR c.is_resumed
    FROM changed c
    WHERE w.assistant_id = ANY(ARRAY(SELECT assistant_id FROM changed)) AND w.assistant_id = c.assistant_id
      AND (c.failures > 0 OR c.success IS NOT NULL OR c.paused_until IS NOT NULL OR c.is_suspended)
  ), newest AS MATERIALIZED (
    SELECT DISTINCT ON (delivery_id) delivery_id, outcome AS last_outcome, status_code AS last_code
    FROM result WHERE is_ours OR outcome = 'delivered' ORDER BY delivery_id, ended_at DESC, nth DESC
  ), single AS MATERIALIZED (
    SELECT d.*, s.n, s.is_crash, s.crashes, coalesce(s.is_present, false) AS is_present, s.verdict, s.reason AS why,
           coalesce(s.is_present AND s.uses_attempt, false) AS uses_attempt, coalesce(${isHeld('s')}, false) AS is_held,
           EXISTS (SELECT FROM result r WHERE r.delivery_id = d.id AND r.outcome = 'delivered') AS is_delivered,
           (SELECT CASE r.outcome WHEN 'unknown' THEN 'crashed' ELSE 'attempts_used_up' END FROM result r
            WHERE r.delivery_id = d.id AND r.trigger = 'test' AND r.is_ours
              AND (r.outcome NOT IN ('delivered', 'unknown') OR ${isHeld('r')})) AS failed_test,
           last_outcome, last_code
    FROM delivery d LEFT JOIN result s ON s.delivery_id = d.id AND s.is_scheduled AND s.is_ours
    LEFT JOIN newest ON newest.delivery_id = d.id
  ), decided AS MATERIALIZED (
    SELECT *, CASE
      WHEN is_delivered THEN 'delivered'
      WHEN status <> 'scheduled' THEN status
      WHEN failed_test IS NOT NULL THEN 'exhausted'
      WHEN is_present AND verdict IN ('cancelled', 'exhausted') THEN verdict
      WHEN is_held THEN 'held' ELSE status END AS becomes
    FROM single
  ), delivery_saved AS (
    UPDATE ledger.webhook_deliveries d
    SET status = v.becomes,
        reason = CASE WHEN v.becomes = v.status THEN d.reason WHEN v.becomes = 'delivered' THEN NULL
          WHEN v.becomes = 'held' THEN 'crashed' ELSE coalesce(v.failed_test, v.why) END,
        attempt_count = greatest(d.attempt_count, v.n),
        failures = CASE WHEN v.uses_attempt THEN 1 + ${failuresOf('d', 'w')} ELSE d.failures END,
        failures_from = CASE WHEN v.uses_attempt THEN ${beginning('d', 'w')} ELSE d.failures_from END,
        finished_at = CASE WHEN v.becomes = v.status THEN d.finished_at ELSE clock_timestamp() END,
        outcome = coalesce(v.last_outcome, d.outcome),
        status_code = CASE WHEN v.last_outcome IS NULL THEN d.status_code ELSE v.last_code END
    FROM decided v LEFT JOIN hook w USING (assistant_id)
    WHERE d.id = ANY(ARRAY(SELECT id FROM decided)) AND d.id = v.id AND (v.n IS NOT NULL OR v.becomes <> v.status OR v.last_outcome IS NOT NULL)
  ), planned AS MATERIALIZED (
    SELECT due.delivery_id, due.trigger, r.is_ours, r.is_scheduled, r.in_ms, r.pause_ms, r.is_present, r.is_crash, r.outcome, due.due_at,
           CASE WHEN r.nth IS NULL THEN v.becomes <> 'scheduled' AND due.trigger = 'schedule' AND due.worker IS NULL
                WHEN ${isHeld('r')} THEN true
                WHEN r.is_scheduled THEN v.becomes <> 'scheduled'
                WHEN v.erased_at IS NOT NULL THEN true
                ELSE r.outcome <> 'unknown' AND r.more = 0 END AS is_over
    FROM due JOIN decided v ON v.id = due.delivery_id
    LEFT JOIN result r ON (r.delivery_id, r.trigger) = (due.delivery_id, due.trigger) AND r.is_ours
  ), over AS (
    DELETE FROM ledger.webhook_due d USING planned p
    WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM planned))
      AND (d.delivery_id, d.trigger) = (p.delivery_id, p.trigger) AND p.is_over
  ), again AS (
    UPDATE ledger.webhook_due d
    SET worker = NULL, started_at = NULL, n = d.n + 1,
        more = CASE WHEN p.is_scheduled OR p.outcome = 'unknown' THEN d.more ELSE d.more - 1 END,
        crashes = CASE WHEN p.outcome <> 'unknown' THEN 0 ELSE d.crashes + p.is_crash::integer END,
        due_at = CASE WHEN p.pause_ms IS NOT NULL AND p.is_present THEN greatest(d.due_at, (SELECT due_from FROM hook WHERE hook.assistant_id = d.assistant_id))
          WHEN p.outcome = 'unknown' OR (p.is_present AND p.is_scheduled)
            THEN clock_timestamp() + p.in_ms * interval '1 ms'
          ELSE clock_timestamp() END
    FROM planned p
    WHERE d.delivery_id = ANY(ARRAY(SELECT delivery_id FROM planned))
      AND (d.delivery_id, d.trigger) = (p.delivery_id, p.trigger) AND p.is_ours AND NOT p.is_over
    RETURNING d.assistant_id, d.due_at, d.trigger
  ), kept AS (
    INSERT INTO ledger.webhook_attempts AS a (delivery_id, trigger, n, started_at, finished_at, url, header_names, outcome,
      status_code, duration_ms, error, response_excerpt, response_truncated)
    SELECT r.delivery_id, r.trigger, r.n, r.started_at, r.ended_at, r.url, r.header_names, r.outcome, r.status_code,
      r.duration_ms, r.error, CASE WHEN d.erased_at IS NULL THEN r.excerpt END, r.truncated
    FROM result r JOIN delivery d ON d.id = r.delivery_id WHERE r.is_ours OR r.outcome = 'delivered'
    ON CONFLICT (delivery_id, trigger, started_at) DO UPDATE
    SET finished_at = excluded.finished_at, url = excluded.url, header_names = excluded.header_names, outcome = 'delivered',
        status_code = excluded.status_code, duration_ms = excluded.duration_ms, error = NULL,
        response_excerpt = excluded.response_excerpt, response_truncated = excluded.response_truncated
    WHERE a.outcome = 'unknown' AND excluded.outcome = 'delivered'
    RETURNING a.delivery_id, a.trigger, a.started_at
  )`

const toldSql = `
  noticed AS (
    INSERT INTO ledger.webhook_notices (user_id, type, assistant_id, delivery_id, reason)
    SELECT c.user_id, 'endpoint_failing', c.assistant_id, c.failed_of, 'failed_three_times' FROM changed c
    WHERE in_row >= ${failuresUntilTold} AND (had_in_row < ${failuresUntilTold} OR success IS NOT NULL) AND suspended_at IS NULL
    UNION ALL
    SELECT c.user_id, 'endpoint_recovered', c.assistant_id, c.success_of, NULL FROM changed c
    WHERE had_in_row >= ${failuresUntilTold} AND success IS NOT NULL AND now_failing_since IS NULL
    UNION ALL
    SELECT c.user_id, 'endpoint_suspended', c.assistant_id, c.suspended_of,
           CASE c.suspended_by WHEN 'gone' THEN 'gone' ELSE 'failing' END
    FROM changed c WHERE is_suspended
    UNION ALL
    SELECT user_id, 'delivery_exhausted', assistant_id, id, coalesce(why, 'crashed') FROM decided
    WHERE becomes <> status AND becomes IN ('exhausted', 'held') AND call_id IS NOT NULL
    RETURNING user_id, type, assistant_id, delivery_id, reason
  ), running AS MATERIALIZED (
    SELECT user_id, assistant_id, count(*) - count(r.nth) AS count
    FROM (SELECT * FROM ledger.webhook_due
      WHERE ${runs('webhook_due')} AND user_id = ANY(ARRAY(SELECT user_id FROM result WHERE is_ours)) OFFSET 0) d
    LEFT JOIN result r USING (user_id, assistant_id, delivery_id, trigger, worker, started_at) GROUP BY user_id, assistant_id
  ), called AS MATERIALIZED (
    SELECT next.assistant_id
    FROM (SELECT user_id, sum(count)::integer AS count FROM running GROUP BY user_id) u
    CROSS JOIN LATERAL (${waitingSql('u.user_id', 'u.count', 'running')}) next
  )
  SELECT ARRAY(
           SELECT assistant_id::text FROM (SELECT DISTINCT assistant_id FROM result WHERE is_ours) e
           JOIN ledger.webhooks w USING (assistant_id) LEFT JOIN changed c USING (assistant_id)
           WHERE w.assistant_id = ANY(ARRAY(SELECT assistant_id FROM result)) AND (${isDue('<>')}
             OR (w.waits_since IS NULL AND ${isOpen('w')} AND c.paused_until IS NULL AND c.is_suspended IS NOT TRUE AND ${isDue('=')}))
           UNION SELECT assistant_id::text FROM called) AS next,
         (SELECT json_agg(r.nth) FROM result r JOIN kept USING (delivery_id, trigger, started_at)) AS kept,
         (SELECT json_agg(n) FROM noticed n) AS notices, (SELECT count(*)::integer FROM ended) AS found`

const outcomeSql = (ended: string) =>
  `WITH ended AS MATERIALIZED (${ended}), ${lockedSql}, ${judgedSql}, ${savedSql}, ${toldSql}`
