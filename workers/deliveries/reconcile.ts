// Finds what has no job: the queue may have lost everything. Of each webhook that may be sent to it looks for the first
// attempt that is due, so a million deliveries of one cost no more than one, and suspended webhooks cost none.
import type { Pool } from 'pg'
import type { Pass } from '../periodic.js'
import { bounds, isOpen, runs } from './claim.js'
import { mostAtOnce } from './webhooks.js'

export interface Waiting { assistantId: string, userId: string }

const assistantsAtOnce = 10_000
/** Steps from `$1` on, to `$2` webhooks at most. */
export const nextOnes = 'assistant_id > $1 ORDER BY assistant_id LIMIT $2'
const theseOnes = 'assistant_id = ANY($1::bigint[])'

/** Of these webhooks those that a claim would serve. @param since SQL: what was due before is not looked at */
export const servableSql = (which: string, since = 'w.due_from') => `
  WITH hook AS MATERIALIZED (
    SELECT assistant_id, user_id, waits_since, failing_since, due_from, ${isOpen('w')} AND (w.max_per_second IS NULL
      OR w.tokens + extract(epoch FROM now() - w.tokens_at) * w.max_per_second >= 1) AS may_send
    FROM ledger.webhooks w WHERE ${which}
  ), pending AS MATERIALIZED (
    SELECT w.*, due.due_at FROM hook w CROSS JOIN LATERAL (
      SELECT due_at FROM ledger.webhook_due
      WHERE assistant_id = w.assistant_id AND worker IS NULL AND crashes < 2 AND trigger = 'schedule'
        AND due_at >= ${since} AND due_at <= now()
      ORDER BY due_at LIMIT 1) due
    WHERE may_send
  ), running AS MATERIALIZED (
    SELECT user_id, assistant_id, count(*) AS count, count(*) FILTER (WHERE trigger = 'schedule') AS scheduled
    FROM ledger.webhook_due d WHERE ${runs('d')} AND user_id = ANY(ARRAY(SELECT DISTINCT user_id FROM pending))
    GROUP BY user_id, assistant_id
  ), of_user AS MATERIALIZED (
    SELECT user_id, sum(count) AS count FROM running GROUP BY user_id
  ), servable AS (
    SELECT w.assistant_id, w.user_id, w.waits_since, w.failing_since, w.due_from, coalesce(u.count, 0) AS count,
           row_number() OVER (PARTITION BY w.user_id ORDER BY coalesce(w.waits_since, w.due_at), w.assistant_id) AS nth
    FROM pending w LEFT JOIN running r USING (user_id, assistant_id) LEFT JOIN of_user u USING (user_id)
    WHERE coalesce(r.count, 0) < CASE WHEN coalesce(u.count, 0) < ${bounds.shared} THEN ${bounds.ofAssistant} ELSE ${bounds.firstOnes} END
      AND (w.failing_since IS NULL OR coalesce(r.scheduled, 0) < ${bounds.ofFailing})
  )`

// It alone looks at what was due before `due_from`: at what took longer than a minute to be committed.
const stepSql = `${servableSql(nextOnes, 'w.due_from - $3::interval')}, marked AS (
    UPDATE ledger.webhooks w SET waits_since = now() WHERE w.assistant_id IN (
      SELECT x.assistant_id FROM servable s JOIN ledger.webhooks x USING (assistant_id)
      WHERE nth > ${bounds.ofUser} - count AND x.waits_since IS NULL
      LIMIT ${mostAtOnce} FOR NO KEY UPDATE OF x SKIP LOCKED)
  ), lowered AS (
    UPDATE ledger.webhooks w SET due_from = p.due_at FROM pending p
    WHERE w.assistant_id = p.assistant_id AND p.due_at < w.due_from
  )
  SELECT (SELECT max(assistant_id)::text FROM hook) AS last, (SELECT count(*) FROM hook) = $2 AS goes_on,
    (SELECT json_agg(json_build_object('assistantId', assistant_id::text, 'userId', user_id) ORDER BY nth)
     FROM servable WHERE nth <= ${bounds.ofUser} - count) AS found`

/** No transaction of ours takes longer than the shorter of these. */
const [usually, atFirst] = ['10 minutes', '100 years']

/**
 * Assistants that a claim would serve now: of each user the longest unserved, as many as have room. Others wait.
 * @param isFirst looks at whatever is due, also at what an open snapshot keeps in the index of attempts that have ended
 */
export async function findWaiting (
  pool: Pick<Pool, 'query'>, { signal, isFirst }: Partial<Pass> = {}
): Promise<Waiting[]> {
  const { rows: all } = await pool.query<Waiting>(`
    SELECT DISTINCT assistant_id::text AS "assistantId", user_id AS "userId" FROM ledger.webhook_due
    WHERE worker IS NULL AND crashes < 2 AND trigger <> 'schedule' AND due_at <= now()`)
  const ofUser = new Map<string, number>()
  for (let after = '0', goesOn = true; goesOn && !signal?.aborted;) {
    const { rows: [step] } = await pool.query<{ last: string | null, goes_on: boolean, found: Waiting[] | null }>(
      { name: 'find-waiting', text: stepSql, values: [after, assistantsAtOnce, isFirst ? atFirst : usually] })
    for (const found of step?.found ?? []) {
      const nth = (ofUser.get(found.userId) ?? 0) + 1
      ofUser.set(found.userId, nth)
      if (nth <= bounds.ofUser) all.push(found)
    }
    after = step?.last ?? after
    goesOn = step?.goes_on ?? false
  }
  return all
}

/**
 * Which of these assistants a claim would serve now: of what comes while one has a job, the queue tells nobody. Whoever
 * waits for room is named when there is some.
 */
export async function findAgain (pool: Pick<Pool, 'query'>, assistants: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'find-again',
    text: `${servableSql(theseOnes)}
      SELECT assistant_id::text AS id FROM servable WHERE waits_since IS NULL AND nth <= ${bounds.ofUser} - count`,
    values: [assistants]
  })
  return rows.map(({ id }) => id)
}
