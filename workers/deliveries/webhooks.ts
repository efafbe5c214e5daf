// Webhooks of assistants: changes by their users, and the end and report of interruptions. A change is one row and
// hastens at most 1,000 due rows at once; `continueHastening` does the rest.
import type { Pool, PoolClient } from 'pg'
import type { Interruption, TroubledWebhook } from '../../src/features/webhooks/model.js'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'
import { iso } from '../../src/postgres/page.js'
import { beginning, runs } from './claim.js'

type Database = Pool | PoolClient

/** A webhook as its assistant's settings say, from the log. */
export interface WebhookChange {
  assistant_id: number
  user_id: string
  url: string | null
  is_on: boolean
  /** The change itself said that the webhook is on, which also resumes a suspended one. */
  switchedOn: boolean
  is_deleted?: boolean
}

/** Most due rows of one statement. */
export const mostAtOnce = 1_000

const dueChannel = 'ringledger_webhooks_due'

/** Tells workers, once it is committed, that assistants have something due. The reconciler finds whom nobody heard. */
export async function notifyDue (db: Database, ...assistantIds: string[]): Promise<void> {
  await db.query('SELECT pg_notify($1, id) FROM unnest($2::text[]) AS due (id)', [dueChannel, assistantIds])
}

export const listenForDue = (notifications: Notifications, onDue: (assistantId: string) => void): Listener =>
  notifications.listen(dueChannel, { onNotification: onDue })

// A new URL, switching on or off, and resuming raise the revision. All but switching off restart the schedules.
const changeSql = `
  WITH given AS MATERIALIZED (
    SELECT * FROM json_to_recordset($1) AS g (
      assistant_id bigint, user_id text, url text, is_on boolean, "switchedOn" boolean, is_deleted boolean)
  ), hook AS MATERIALIZED (
    SELECT w.* FROM ledger.webhooks w WHERE assistant_id IN (SELECT assistant_id FROM given)
    ORDER BY w.assistant_id FOR NO KEY UPDATE
  ), added AS (
    INSERT INTO ledger.webhooks (assistant_id, user_id, url, off_since, deleted_at)
    SELECT assistant_id, user_id, url, CASE WHEN NOT is_on OR url IS NULL THEN now() END, CASE WHEN is_deleted THEN now() END
    FROM given WHERE (SELECT count(*) FROM hook) >= 0 ORDER BY assistant_id
    ON CONFLICT DO NOTHING
  ), told AS MATERIALIZED (
    SELECT g.*, is_on AND g.url IS NOT NULL AS goes_on, coalesce(is_deleted, false) AS goes, g.url IS DISTINCT FROM h.url AS is_moved,
           is_on AND g.url IS NOT NULL AND (h.off_since IS NOT NULL OR g.url IS DISTINCT FROM h.url
             OR ("switchedOn" AND (h.suspended_at IS NOT NULL OR coalesce(h.paused_until > now(), false)))) AS is_restarted
    FROM given g JOIN hook h USING (assistant_id)
  ), changed AS (
    UPDATE ledger.webhooks w
    SET url = t.url, off_since = CASE WHEN NOT t.goes_on THEN coalesce(w.off_since, now()) END,
        deleted_at = CASE WHEN t.goes THEN coalesce(w.deleted_at, now()) ELSE w.deleted_at END,
        revision = w.revision + (t.is_restarted OR t.is_moved OR t.goes_on = (w.off_since IS NOT NULL))::integer,
        ${restarting('t.is_restarted', 't.is_moved')},
        failures_in_row = CASE WHEN t.is_moved THEN 0 ELSE w.failures_in_row END
    FROM told t WHERE w.assistant_id = t.assistant_id
    RETURNING w.assistant_id, t.is_restarted
  )
  SELECT assistant_id::text AS id FROM changed WHERE is_restarted`

/** A new receiver does not inherit failures, and after a suspension the time of failing begins anew. */
function restarting (when: string, isMoved: string): string {
  const unless = (column: string) => `${column} = CASE WHEN NOT (${when} OR ${isMoved}) THEN w.${column} END`
  return `
        failing_since = CASE WHEN NOT (${isMoved} OR (${when} AND w.suspended_at IS NOT NULL)) THEN w.failing_since END,
        ${['suspended_at', 'suspended_reason', 'paused_until', 'pause_reason'].map(unless).join(', ')},
        restarted_at = CASE WHEN ${when} THEN clock_timestamp() ELSE w.restarted_at END,
        is_hastening = ${when} OR w.is_hastening`
}

/** Call it before the same transaction locks deliveries of other webhooks. */
export async function lockWebhooks (tx: PoolClient, changes: readonly WebhookChange[]): Promise<void> {
  if (changes.length === 0) return
  await tx.query('SELECT FROM ledger.webhooks WHERE assistant_id = ANY($1::bigint[]) ORDER BY assistant_id FOR NO KEY UPDATE',
    [changes.map(({ assistant_id }) => assistant_id)])
}

/** Applies the settings of assistants. @returns those that may have something due now */
export async function changeWebhooks (tx: PoolClient, changes: readonly WebhookChange[]): Promise<string[]> {
  if (changes.length === 0) return []
  const { rows } = await tx.query<{ id: string }>(changeSql, [JSON.stringify(changes)])
  let left = mostAtOnce
  for (const { id } of rows) if (left > 0) left -= await hasten(tx, id, left)
  return rows.map(({ id }) => id)
}

/**
 * Ends the suspension or pause of an assistant's webhook, and hastens waiting deliveries. Operators name no user.
 * @param to the URL that the webhook must still have; a new URL has ended the interruption already
 * @returns how many deliveries were held, at most `mostAtOnce`; nothing if it is neither suspended nor paused
 */
export async function endInterruption (
  tx: PoolClient, assistantId: string, userId?: string, to?: string
): Promise<number | undefined> {
  const { rows: [resumed] } = await tx.query<{ held: number }>(`
    WITH hook AS MATERIALIZED (
      SELECT *, CASE WHEN suspended_at IS NULL OR off_since IS NOT NULL THEN 0 ELSE (
        SELECT count(*) FROM (
          SELECT FROM ledger.webhook_due d WHERE d.assistant_id = w.assistant_id AND d.worker IS NULL AND d.crashes < 2
            AND d.trigger = 'schedule' LIMIT ${mostAtOnce}) held) END::integer AS held
      FROM ledger.webhooks w
      WHERE assistant_id = $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::text IS NULL OR url = $3)
        AND (suspended_at IS NOT NULL OR paused_until > now())
      FOR NO KEY UPDATE
    )
    UPDATE ledger.webhooks w SET revision = w.revision + 1, ${restarting('true', 'false')}
    FROM hook WHERE w.assistant_id = hook.assistant_id RETURNING hook.held`, [assistantId, userId ?? null, to ?? null])
  if (!resumed) return undefined
  await hasten(tx, assistantId, mostAtOnce)
  await notifyDue(tx, assistantId)
  return resumed.held
}

/** The owner and URL of an assistant's webhook, as far as the dispatcher has read the log. */
export async function findWebhook (
  pool: Pool, assistantId: number
): Promise<{ user_id: string, url: string | null } | undefined> {
  const { rows: [found] } = await pool.query<{ user_id: string, url: string | null }>(
    'SELECT user_id, url FROM ledger.webhooks WHERE assistant_id = $1 AND deleted_at IS NULL', [assistantId])
  return found
}

const isOn = 'off_since IS NULL AND deleted_at IS NULL'
const [isSuspended, isPaused] = ['suspended_at IS NOT NULL', '(suspended_at IS NULL AND paused_until > now())']
/** It has failed three times or more since its last success. */
export const isFailing = `failing_since IS NOT NULL AND failures_in_row >= 3 AND suspended_at IS NULL AND ${isOn}`

const interruption = `
  CASE WHEN suspended_at IS NOT NULL THEN 'suspended' ELSE 'paused' END AS state,
  coalesce(suspended_reason, pause_reason) AS reason, ${iso('suspended_at')} AS since,
  CASE WHEN suspended_at IS NULL THEN ${iso('paused_until')} END AS until`

/** Why nothing is sent to an assistant's webhook that is on and goes to this URL, if so. */
export async function findInterruption (
  pool: Pool, assistantId: number, url: string
): Promise<Interruption | undefined> {
  const { rows: [found] } = await pool.query<Interruption>({
    name: 'find-interruption',
    text: `
      SELECT ${interruption} FROM ledger.webhooks
      WHERE ${isOn} AND assistant_id = $1 AND url = $2 AND (${isSuspended} OR ${isPaused})`,
    values: [assistantId, url]
  })
  return found
}

const waits = "d.assistant_id = w.assistant_id AND d.worker IS NULL AND d.crashes < 2 AND d.trigger = 'schedule'"
// A delivery that has failed waits for its retry and is due last, or for the end of a pause and is due first. Else it
// is being sent again, or exhausted.
const lastError = `
  CASE suspended_reason WHEN 'gone' THEN 'the receiver answered 410' ELSE (
    SELECT coalesce(error, 'the receiver answered ' || status_code) FROM ledger.webhook_attempts
    WHERE outcome <> 'delivered' AND delivery_id IN (
      (SELECT delivery_id FROM ledger.webhook_due d WHERE ${waits} ORDER BY due_at DESC LIMIT 10)
      UNION ALL (SELECT delivery_id FROM ledger.webhook_due d WHERE ${waits} ORDER BY due_at LIMIT 10)
      UNION ALL SELECT delivery_id FROM ledger.webhook_due d
      WHERE d.user_id = w.user_id AND d.assistant_id = w.assistant_id AND ${runs('d')}
      UNION ALL (SELECT id FROM (
        SELECT id, assistant_id FROM ledger.webhook_deliveries d WHERE d.user_id = w.user_id AND status = 'exhausted'
        ORDER BY created_at DESC, id DESC LIMIT 100) ended WHERE ended.assistant_id = w.assistant_id LIMIT 10))
    ORDER BY finished_at DESC LIMIT 1) END`

/** Suspended ones first, then failing ones, each the longest first, then those that pause. */
export async function troubledWebhooks (
  pool: Pool, most: number, states: readonly TroubledWebhook['state'][] = ['suspended', 'failing', 'paused']
): Promise<TroubledWebhook[]> {
  const each = (state: TroubledWebhook['state'], where: string, since: string) => states.includes(state)
    ? [`(SELECT '${state}' AS state, ${since} AS from_when, * FROM ledger.webhooks WHERE ${where} ORDER BY ${since} LIMIT $1)`]
    : []
  const troubled = [
    ...each('suspended', `${isSuspended} AND ${isOn}`, 'suspended_at'), ...each('failing', isFailing, 'failing_since'),
    ...each('paused', `${isPaused} AND ${isOn} AND NOT (${isFailing})`, 'paused_until')
  ]
  const { rows } = await pool.query<TroubledWebhook>(`
    SELECT assistant_id::float8 AS assistant_id, user_id, split_part(url, '?', 1) AS url, state,
      coalesce(suspended_reason, CASE WHEN paused_until > now() THEN pause_reason END) AS reason,
      ${iso('coalesce(suspended_at, failing_since)')} AS since,
      CASE WHEN suspended_at IS NULL AND paused_until > now() THEN ${iso('paused_until')} END AS until,
      ${lastError} AS last_error,
      (SELECT count(*)::integer FROM (SELECT FROM ledger.webhook_due d WHERE ${waits} LIMIT ${mostAtOnce}) them) AS waiting
    FROM (${troubled.join(' UNION ALL ')}) w
    ORDER BY array_position(ARRAY['suspended', 'failing', 'paused'], state), from_when, assistant_id LIMIT $1`, [most])
  return rows
}

// Deliveries whose last failure was before the restart of the schedule. One that has failed since keeps its wait.
const hastenSql = `
  WITH hook AS MATERIALIZED (
    SELECT * FROM ledger.webhooks WHERE assistant_id = $1 FOR NO KEY UPDATE
  ), waiting AS MATERIALIZED (
    SELECT due.delivery_id FROM ledger.webhook_due due
    WHERE due.assistant_id = $1 AND due.worker IS NULL AND due.crashes < 2 AND due.trigger = 'schedule'
      AND due.due_at > now() AND (SELECT count(*) FROM hook) > 0
      AND (SELECT d.failures > 0 AND d.failures_from < ${beginning('d', 'w')}
           FROM hook w, ledger.webhook_deliveries d WHERE d.id = due.delivery_id) -- in the order of the index
    ORDER BY due.due_at LIMIT $2
  ), locked AS MATERIALIZED (
    SELECT delivery_id FROM ledger.webhook_due
    WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM waiting)) AND trigger = 'schedule' AND worker IS NULL AND due_at > now()
    ORDER BY delivery_id FOR UPDATE
  ), hastened AS (
    UPDATE ledger.webhook_due SET due_at = now()
    WHERE delivery_id = ANY(ARRAY(SELECT delivery_id FROM locked)) AND trigger = 'schedule'
  ), ended AS (
    UPDATE ledger.webhooks SET is_hastening = false WHERE assistant_id = $1 AND (SELECT count(*) FROM waiting) < $2
  )
  SELECT count(*)::integer AS count FROM waiting`

/** Makes deliveries that wait for a retry due now, at most so many. @returns how many */
async function hasten (db: Database, assistantId: string, most: number): Promise<number> {
  const { rows: [row] } = await db.query<{ count: number }>({ name: 'hasten', text: hastenSql, values: [assistantId, most] })
  return row?.count ?? 0
}

/** One step of the hastening that changes have left. @returns the assistants with something due now */
export async function continueHastening (pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    'SELECT assistant_id::text AS id FROM ledger.webhooks WHERE is_hastening ORDER BY assistant_id LIMIT 100')
  for (const { id } of rows) await hasten(pool, id, mostAtOnce)
  return rows.map(({ id }) => id)
}
