// One batch of a move, as one statement: `$1` is what moves, `$2` the most rows of a batch.

export const zeroId = '00000000-0000-0000-0000-000000000000'

/**
 * A test is never pending: it has one attempt, and goes to the URL of that moment. What ended its workers stays where
 * it is until somebody asks for it.
 */
export const isPending = "status IN ('scheduled', 'held') AND call_id IS NOT NULL AND reason IS DISTINCT FROM 'crashed'"

/** Whether a delivery stands where its assistant sends nothing any more: a condition on its two columns. */
export const mustMove = (assistant: string, endpoint: string) => `EXISTS (
  SELECT FROM ledger.moving_assistants move
  WHERE move.assistant_id = ${assistant} AND move.endpoint_id IS DISTINCT FROM ${endpoint})`

/** The pending deliveries that are next, in the order of an index, locked. */
const picked = (column: string) => `
  picked AS MATERIALIZED (
    SELECT d.id FROM move CROSS JOIN LATERAL (
      SELECT id FROM ledger.webhook_deliveries
      WHERE ${column} = $1 AND id > move.after_id AND ${isPending}
      ORDER BY id LIMIT $2 FOR NO KEY UPDATE) d
  )`

/**
 * What waits again may have been due for long: looks for it begin with the oldest. The next batch begins after this
 * one; the last one ends the move.
 */
const advanced = (table: string, column: string) => `
  sought AS (
    INSERT INTO ledger.users_due_since (user_id, next_attempt_at)
    SELECT DISTINCT user_id, timestamptz '-infinity' FROM moved WHERE status = 'scheduled'
    ON CONFLICT (user_id) DO UPDATE SET next_attempt_at = excluded.next_attempt_at
  ), advanced AS (
    UPDATE ledger.${table} SET after_id = (SELECT id FROM picked ORDER BY id DESC LIMIT 1)
    WHERE ${column} = $1 AND (SELECT count(*) FROM picked) = $2
  ), ended AS (
    DELETE FROM ledger.${table} WHERE ${column} = $1 AND (SELECT count(*) FROM picked) < $2
  )
  SELECT (SELECT count(*) FROM picked)::integer AS picked,
         (SELECT min(user_id) FROM moved WHERE status = 'scheduled') AS due_user`

/** An attempt that runs keeps its slot; any other one gives it back, and its job is stale by its next one. */
const queuedAt = 'CASE WHEN d.started_at IS NOT NULL THEN d.queued_at END'

export const assistantBatchSql = `
  WITH move AS (SELECT * FROM ledger.moving_assistants WHERE assistant_id = $1 FOR UPDATE),
  ${picked('assistant_id')},
  target AS (
    SELECT move.endpoint_id,
           CASE WHEN move.endpoint_id IS NULL THEN 'webhook_off'
                WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END AS held_as
    FROM move LEFT JOIN ledger.webhook_endpoints e ON e.id = move.endpoint_id
  ), moved AS (
    UPDATE ledger.webhook_deliveries d
    SET endpoint_id = coalesce(t.endpoint_id, d.endpoint_id),
        status = CASE WHEN t.held_as IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = t.held_as,
        held_at = CASE WHEN t.held_as IS NOT NULL THEN coalesce(d.held_at, now()) END,
        queued_at = ${queuedAt}
    FROM target t
    WHERE d.id = ANY(ARRAY(SELECT id FROM picked)) AND ${isPending}
      AND (d.endpoint_id <> t.endpoint_id OR d.reason IS DISTINCT FROM t.held_as)
    RETURNING d.user_id, d.status
  ),
  ${advanced('moving_assistants', 'assistant_id')}`

export const endpointBatchSql = `
  WITH move AS (SELECT * FROM ledger.moving_endpoints WHERE endpoint_id = $1 FOR UPDATE),
  ${picked('endpoint_id')},
  moved AS (
    UPDATE ledger.webhook_deliveries d
    SET status = CASE WHEN e.suspended_at IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = CASE WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END,
        held_at = CASE WHEN e.suspended_at IS NOT NULL THEN now() END,
        queued_at = ${queuedAt}
    FROM ledger.webhook_endpoints e
    WHERE e.id = $1 AND d.id = ANY(ARRAY(SELECT id FROM picked))
      AND CASE WHEN e.suspended_at IS NULL THEN d.status = 'held' AND d.reason = 'endpoint_suspended'
               ELSE d.status = 'scheduled' END
    RETURNING d.user_id, d.status
  ),
  ${advanced('moving_endpoints', 'endpoint_id')}`
