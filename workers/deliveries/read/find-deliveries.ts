// Deliveries as their owners and operators read them.
import type { Pool, PoolClient } from 'pg'
import type { Delivery, DeliverySummary } from '../../../src/features/webhooks/model.js'
import { readPage, type Page, type Paged } from '../../../src/postgres/page.js'

/** An absent field filters nothing. Only operators leave the user out. */
export interface DeliveryFilter {
  userId?: string | undefined
  assistantId?: number | undefined
  callId?: string | undefined
  status?: Delivery['status'] | undefined
  reason?: string | undefined
  /** ISO 8601. */
  createdFrom?: string | undefined
  createdTo?: string | undefined
}

/** A page of deliveries without their attempts, newest first. */
export async function listDeliveries (
  pool: Pool, { userId, assistantId, callId, createdFrom, createdTo, status, reason }: DeliveryFilter, page: Page
): Promise<Paged<DeliverySummary>> {
  return await readPage(pool, {
    name: 'deliveries',
    columns: 'id, call_id, assistant_id, type, status, reason, attempt_count, next_attempt_at, endpoint_id, created_at',
    from: 'ledger.webhook_deliveries',
    key: 'id',
    own: [['user_id = ?', userId]],
    filters: [
      ['assistant_id = ?', assistantId], ['call_id = ?', callId], ['status = ?', status],
      ['reason = ?', reason], ['created_at >= ?', createdFrom], ['created_at <= ?', createdTo]
    ],
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'uuid' } },
    item: `json_build_object(${summaryOf('page')})`
  }, page)
}

/** Whether `text` may be the id of a delivery. */
export const isDeliveryId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/**
 * The delivery with its newest attempts, oldest first; without a user, that of any user.
 * @param longestExcerpt of what receivers answered, in characters; all that is kept when absent
 */
export async function findDelivery (
  db: Pool | PoolClient, userId: string | undefined, id: string, longestExcerpt = keptExcerpt
): Promise<Delivery | undefined> {
  if (!isDeliveryId(id)) return undefined
  const { rows } = await db.query<{ delivery: Delivery }>({
    name: 'find-delivery',
    text: `
    SELECT ${delivery} AS delivery FROM ledger.webhook_deliveries d
    WHERE d.id = $1 AND ($2::text IS NULL OR d.user_id = $2)`,
    values: [id, userId ?? null, longestExcerpt]
  })
  return rows[0]?.delivery
}

/** The webhooks of the user's call with their newest attempts; empty when there are none, or none yet. */
export async function findDeliveries (pool: Pool, userId: string, callId: string): Promise<Delivery[]> {
  const { rows } = await pool.query<{ delivery: Delivery }>({
    name: 'find-deliveries',
    text: `
    SELECT ${delivery} AS delivery FROM ledger.webhook_deliveries d
    WHERE d.call_id = $1 AND d.user_id = $2 ORDER BY d.created_at, d.id`,
    values: [callId, userId, keptExcerpt]
  })
  return rows.map((row) => row.delivery)
}

/** The same with what was sent: `body` is null when it is no longer kept. Each may have a megabyte. */
export async function findWholeDeliveries (
  db: PoolClient, userId: string, callId: string
): Promise<Array<Delivery & { body: string | null }>> {
  const { rows } = await db.query<{ delivery: Delivery, body: string | null }>(`
    SELECT ${delivery} AS delivery, d.body FROM ledger.webhook_deliveries d
    WHERE d.call_id = $1 AND d.user_id = $2 ORDER BY d.created_at, d.id`, [callId, userId, keptExcerpt])
  return rows.map((row) => ({ ...row.delivery, body: row.body }))
}

/** UTC with milliseconds, as every time in an answer. */
const iso = (column: string) => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

// The schedule never attempts a test: its next attempt is at infinity. What is due waits until a pause is over.
const summaryOf = (row: string) => `
  'id', ${row}.id,
  'call_id', ${row}.call_id,
  'assistant_id', ${row}.assistant_id,
  'type', ${row}.type,
  'status', ${row}.status,
  'reason', ${row}.reason,
  'attempt_count', ${row}.attempt_count,
  'next_attempt_at', CASE
    WHEN ${row}.status = 'scheduled' AND isfinite(${row}.next_attempt_at) THEN ${iso(`greatest(${row}.next_attempt_at, (
      SELECT paused_until FROM ledger.webhook_endpoints WHERE id = ${row}.endpoint_id AND paused_until > now()))`)} END,
  'created_at', ${iso(`${row}.created_at`)}`

/** More characters than are kept of an answer: its bytes are. */
const keptExcerpt = 16_384

/** Each may hold 16 KiB of an answer, and a user may ask for as many as they like. The schedule makes ten. */
const mostAttempts = 50

const delivery = `json_build_object(${summaryOf('d')}, 'attempts', (
  SELECT coalesce(json_agg(json_build_object(
    'n', a.n,
    'trigger', a.trigger,
    'started_at', ${iso('a.started_at')},
    'finished_at', ${iso('a.finished_at')},
    'outcome', a.outcome,
    'status_code', a.status_code,
    'duration_ms', a.duration_ms,
    'error', a.error,
    'response_excerpt', left(a.response_excerpt, $3)
  ) ORDER BY coalesce(a.started_at, a.due_at), a.trigger, a.n), '[]')
  FROM (
    SELECT * FROM ledger.all_webhook_attempts one WHERE one.delivery_id = d.id
    ORDER BY coalesce(one.started_at, one.due_at) DESC LIMIT ${mostAttempts}) a))`
