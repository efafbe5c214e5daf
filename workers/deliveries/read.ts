// Deliveries and notices as their owners and operators read them. A delivery that waits for a webhook that is off or
// suspended is shown as held, though its row does not change.
import type { Pool, PoolClient } from 'pg'
import type { HourCount } from '../../projections/calls.js'
import type { Delivery, DeliveryRequest, DeliverySummary, Notice } from '../../src/features/webhooks/model.js'
import type { Outcome } from '../../src/features/webhooks/outcome.js'
import { iso, readPage, type Filter, type Page, type Paged, type Search } from '../../src/postgres/page.js'
import { requestHeaders } from '../deliver/sign.js'

/** An absent field filters nothing. Only operators leave the user out. */
export interface DeliveryFilter {
  userId?: string | undefined
  assistantId?: number | undefined
  callId?: string | undefined
  status?: Delivery['status'] | undefined
  reason?: string | undefined
  /** Of the attempt that ended last. */
  outcome?: Outcome | undefined
  statusCode?: number | undefined
  /** Beginning of the URL of its webhook. */
  url?: string | undefined
  /** ISO 8601. */
  createdFrom?: string | undefined
  createdTo?: string | undefined
}

/** Whether a webhook `w` is off or suspended. */
export const isClosed = (w: string) => `(${w}.off_since IS NOT NULL OR ${w}.suspended_at IS NOT NULL)`
/** A test does not wait for its webhook. */
const isPending = "d.status = 'scheduled' AND d.call_id IS NOT NULL"
/** Whether the delivery `d` is shown as held although its row does not say so. */
export const isHeld = `(${isPending} AND EXISTS (
  SELECT FROM ledger.webhooks w WHERE w.assistant_id = d.assistant_id AND ${isClosed('w')}))`
const heldReason = `CASE WHEN ${isPending} THEN (
  SELECT CASE WHEN w.off_since IS NOT NULL THEN 'webhook_off' WHEN w.suspended_at IS NOT NULL THEN 'endpoint_suspended' END
  FROM ledger.webhooks w WHERE w.assistant_id = d.assistant_id) END`

const isPendingStatus = (status: string | undefined) => status === 'scheduled' || status === 'held'

function statusFilter (status: Delivery['status'] | undefined): Filter {
  if (status === 'held') return [`(d.status = 'held' OR ${isHeld})`]
  return [status === 'scheduled' ? `(d.status = ? AND NOT ${isHeld})` : 'd.status = ?', status]
}

/** Bounds of a list of all users: no index has filtered rows in the order of the list. */
const [mostFiltered, mostCounted] = [50_000, 10_001]

const partsOfAll = ["(body IS NULL OR status IN ('scheduled', 'held'))", "body IS NOT NULL AND status NOT IN ('scheduled', 'held')"]
/** These have an index of their own, in the order of the list. */
const indexedStatuses: ReadonlyArray<string | undefined> = ['exhausted', 'cancelled', 'skipped']

/** The newest of all users: each row is in one of two indexes on the time, and Postgres merges them. */
function newestOfAll (isFiltered: boolean, parts: readonly string[]): Search {
  return ({ where, range, needed }) => {
    const most = `LIMIT ${isFiltered ? mostFiltered : `greatest(${needed}, ${mostCounted})`}`
    const newest = parts.map((part) => `(
      SELECT id, created_at, user_id, assistant_id, call_id, status, reason, outcome, status_code FROM ledger.webhook_deliveries
      WHERE ${[part, ...range].join(' AND ')} ORDER BY created_at DESC, id DESC ${most})`)
    return `
  looked AS MATERIALIZED (
    SELECT * FROM (${newest.join(' UNION ALL ')}) parts ORDER BY created_at DESC, id DESC ${most}),
  found AS (SELECT id, created_at FROM looked d ${where}),
  walked AS (SELECT ${isFiltered ? `count(*) < ${mostFiltered}` : true} AS is_whole, false AS is_large${isFiltered ? ' FROM looked' : ''})`
  }
}

/** Null if the assistant is unknown. */
interface OfUser { user_id: string | null }

/** A page of deliveries without their attempts, newest first, each with its user. */
export async function listDeliveries (
  pool: Pool, filter: DeliveryFilter, page: Page
): Promise<Paged<DeliverySummary & OfUser>> {
  const { userId, assistantId, callId, createdFrom, createdTo, status, reason, outcome, statusCode, url } = filter
  const isIndexed = (userId ?? callId) !== undefined || indexedStatuses.includes(status)
  const isFiltered = [assistantId, status, reason, outcome, statusCode, url].some((asked) => asked !== undefined)
  return await readPage(pool, {
    name: 'deliveries',
    columns: `${columns}, d.user_id`,
    from: 'ledger.webhook_deliveries d',
    key: 'id',
    own: [['user_id = ?', userId]],
    range: [['created_at >= ?', createdFrom], ['created_at <= ?', createdTo]],
    search: isIndexed ? undefined : newestOfAll(isFiltered, partsOfAll.slice(0, isPendingStatus(status) ? 1 : 2)),
    filters: [
      ['assistant_id = ?', assistantId], ['call_id = ?', callId], statusFilter(status),
      ['outcome = ?', outcome], ['status_code = ?', statusCode], [indexedStatuses.includes(status) ? 'reason = ?' : `? IN (reason, ${heldReason})`, reason],
      ['assistant_id IN (SELECT assistant_id FROM ledger.webhooks WHERE starts_with(url, ?))', url]
    ],
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'uuid' } },
    item: `json_build_object('user_id', page.user_id, ${summary})`
  }, page)
}

/** Counts deliveries by the hour in which they were made, from <= time < to. It counts only the newest `most` + 1. */
export async function countDeliveries (
  pool: Pool, userId: string, from: Date, to: Date, most: number
): Promise<HourCount[]> {
  const { rows } = await pool.query<HourCount>({
    name: 'count-deliveries',
    text: `
    SELECT hour, CASE WHEN ${isHeld} THEN 'held' ELSE d.status END AS status, sum(count)::integer AS count
    FROM (
      SELECT floor(extract(epoch FROM created_at) / 3600)::integer AS hour, assistant_id, status, min(call_id) AS call_id,
        count(*) AS count
      FROM (SELECT created_at, assistant_id, status, call_id FROM ledger.webhook_deliveries
        WHERE user_id = $1 AND created_at >= $2 AND created_at < $3 ORDER BY created_at DESC, id DESC LIMIT $4 + 1) newest
      GROUP BY 1, assistant_id, status, call_id IS NULL) d
    GROUP BY 1, 2`,
    values: [userId, from, to, most]
  })
  return rows
}

export const isDeliveryId = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/**
 * The delivery with its newest attempts, oldest first; without a user, that of any user.
 * @param longestExcerpt characters of each answer; all that are kept when absent
 */
export async function findDelivery (
  db: Pool | PoolClient, userId: string | undefined, id: string, longestExcerpt = keptExcerpt
): Promise<Delivery & OfUser | undefined> {
  if (!isDeliveryId(id)) return undefined
  const { rows } = await db.query<{ delivery: Delivery, user_id: string | null }>({
    name: 'find-delivery',
    text: deliveriesSql('d.id = $1 AND ($2::text IS NULL OR d.user_id = $2)', ', user_id'),
    values: [id, userId ?? null, longestExcerpt]
  })
  return rows.map(({ delivery, user_id }) => ({ ...delivery, user_id }))[0]
}

/** The deliveries of the user's call with their newest attempts; empty if there are none, or none yet. */
export async function findDeliveries (pool: Pool, userId: string, callId: string): Promise<Delivery[]> {
  const { rows } = await pool.query<{ delivery: Delivery }>({
    name: 'find-deliveries', text: deliveriesSql(isOfCall), values: [callId, userId, keptExcerpt]
  })
  return rows.map((row) => row.delivery)
}

/** Like `findDeliveries`, with `body`, which is null once it is no longer kept. Each may have a megabyte. */
export async function findWholeDeliveries (
  db: PoolClient, userId: string, callId: string
): Promise<Array<Delivery & { body: string | null }>> {
  const { rows } = await db.query<{ delivery: Delivery, body: string | null }>(
    deliveriesSql(isOfCall, ', body'), [callId, userId, keptExcerpt])
  return rows.map((row) => ({ ...row.delivery, body: row.body }))
}

/** Where a delivery `d` went last or will go, and its last error. Without the query, which may hold a secret. */
const last = `(
  SELECT json_build_object('url', coalesce(a.url, substring(w.url FROM '^[^?#]*')), 'error', a.error)
  FROM (SELECT) one
  LEFT JOIN LATERAL (
    SELECT url, CASE WHEN outcome <> 'delivered' THEN coalesce(error, 'the receiver answered ' || status_code) END AS error
    FROM ledger.webhook_attempts WHERE delivery_id = d.id ORDER BY finished_at DESC LIMIT 1) a ON true
  LEFT JOIN ledger.webhooks w ON w.assistant_id = d.assistant_id WHERE d.status <> 'skipped')`

/** The columns of a delivery `d`. `due_at` is never before the end of a pause. */
const columns = `d.id, d.call_id, d.assistant_id, d.type, d.status, d.reason, d.attempt_count, d.created_at,
  ${heldReason} AS held, ${last} AS last, CASE WHEN ${isPending} THEN (
    SELECT greatest(due.due_at, CASE WHEN w.paused_until > now() THEN w.paused_until END)
    FROM ledger.webhook_due due LEFT JOIN ledger.webhooks w USING (assistant_id)
    WHERE due.delivery_id = d.id AND due.trigger = 'schedule') END AS due_at`

const summary = `
  'id', page.id,
  'call_id', page.call_id,
  'assistant_id', page.assistant_id,
  'type', page.type,
  'status', CASE WHEN page.held IS NULL THEN page.status ELSE 'held' END,
  'reason', coalesce(page.held, page.reason),
  'attempt_count', page.attempt_count,
  'next_attempt_at', CASE WHEN page.held IS NULL THEN ${iso('page.due_at')} END,
  'created_at', ${iso('page.created_at')},
  'url', page.last ->> 'url',
  'last_error', page.last ->> 'error'`

/** So many bytes are kept of an answer, and never more characters. */
const keptExcerpt = 16_384

/** Each may hold 16 KiB of an answer, and a user may ask for any number of attempts. The schedule makes ten. */
const mostAttempts = 50

/** Attempts that have ended, are running, or were asked for. */
const attempts = `
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
  ) ORDER BY a.at, a.trigger, a.n), '[]')
  FROM (
    SELECT n, trigger, started_at AS at, started_at, finished_at, outcome, status_code, duration_ms, error, response_excerpt
    FROM ledger.webhook_attempts WHERE delivery_id = page.id
    UNION ALL
    SELECT n + nth, trigger, CASE WHEN nth = 0 THEN coalesce(started_at, due_at) ELSE clock_timestamp() END,
      CASE WHEN nth = 0 THEN started_at END, NULL, NULL, NULL, NULL, NULL, NULL
    FROM ledger.webhook_due, generate_series(0, more) nth
    WHERE delivery_id = page.id AND (started_at IS NOT NULL OR trigger <> 'schedule')
    ORDER BY at DESC LIMIT ${mostAttempts}) a`

const isOfCall = 'd.call_id = $1 AND d.user_id = $2'

const deliveriesSql = (which: string, more = '') => `
  SELECT json_build_object(${summary}, 'attempts', (${attempts})) AS delivery${more}
  FROM (SELECT ${columns}${more} FROM ledger.webhook_deliveries d WHERE ${which}) page ORDER BY created_at, id`

const newestAttempt = `
  SELECT n, started_at, url, header_names FROM ledger.webhook_attempts WHERE delivery_id = d.id
  UNION ALL SELECT n, started_at, NULL, NULL FROM ledger.webhook_due WHERE delivery_id = d.id AND started_at IS NOT NULL
  ORDER BY started_at DESC LIMIT 1`

interface RequestRow extends Record<'body' | 'url' | 'header_names', string | null> { n: number, started_at: Date }

/**
 * The request of the newest attempt that was started, as its owner may see it; null before the first.
 * @param version of Ringledger
 */
export async function findRequest (pool: Pool, id: string, version: string): Promise<DeliveryRequest | null> {
  const { rows: [row] } = await pool.query<RequestRow>({
    name: 'find-request',
    text: `
    SELECT d.body, coalesce(a.url, w.url) AS url, a.n, a.started_at, a.header_names
    FROM ledger.webhook_deliveries d CROSS JOIN LATERAL (${newestAttempt}) a
    LEFT JOIN ledger.webhooks w USING (assistant_id)
    WHERE d.id = $1`,
    values: [id]
  })
  if (!row) return null
  const { body, url, n: attempt, started_at: at, header_names: names } = row
  const headers = requestHeaders({ id, attempt, at }, version)
  return { method: 'POST', url: withoutQuery(url ?? ''), headers, header_names: names?.split(', ') ?? [], body }
}

function withoutQuery (text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  return url.origin + url.pathname
}

/** The arguments of `json_build_object` for a notice `n`. */
export const noticeOf = (n: string) => `
  'id', ${n}.id, 'type', ${n}.type, 'assistant_id', ${n}.assistant_id, 'delivery_id', ${n}.delivery_id,
  'reason', ${n}.reason, 'at', ${iso(`${n}.at`)}`

/** A page of the user's notices, newest first. The statement that records an outcome writes them. */
export async function listNotices (pool: Pool, userId: string, page: Page): Promise<Paged<Notice>> {
  return await readPage(pool, {
    name: 'notices',
    columns: 'id, type, assistant_id, delivery_id, reason, at',
    from: 'ledger.webhook_notices',
    key: 'id',
    own: [['user_id = ?', userId]],
    order: { direction: 'DESC', by: { id: 'bigint' } },
    item: `json_build_object(${noticeOf('page')})`
  }, page)
}
