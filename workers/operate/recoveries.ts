// Sends again what was not delivered: what users asked for, batch by batch between other work, and what operators name.
import type { PoolClient, Pool } from 'pg'
import { lockForCount } from '../work/requests.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Streams } from '../../src/log/event-log.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { endpointIds } from '../deliveries/endpoints.js'
import { buildSkippedBodies } from './skipped-bodies.js'

export const recoverable = ['exhausted', 'cancelled', 'skipped', 'held'] as const
export type Recoverable = typeof recoverable[number]

/** ISO 8601; `until` is now where it is absent. */
export interface RecoveryRequest {
  userId: string
  assistantId: number
  since: string
  until?: string | undefined
  statuses: readonly Recoverable[]
}

export type Requested = { count: number } | { refused: 'too-many' | 'busy' }

const mostRecovered = 100_000
const mostOfAssistant = 10
const zeroId = '00000000-0000-0000-0000-000000000000'

/**
 * A condition on rows of the delivery log; `$3` are statuses. A call that was not to be sent can be sent where its user
 * had only switched the webhook off. Other payloads must still be there.
 */
const isRecoverable = `
  status = ANY($3::text[]) AND call_id IS NOT NULL AND started_at IS NULL
  AND CASE WHEN status = 'skipped' THEN reason = 'webhook_off' ELSE body IS NOT NULL END`

/** Notes what is to be sent again. @returns how many deliveries that is, or why nothing was noted */
export async function requestRecovery (tx: PoolClient, request: RecoveryRequest): Promise<Requested> {
  const { userId, assistantId, since, until = null, statuses } = request
  await lockForCount(tx, 'webhook-recovery', String(assistantId))
  const { rows: [counted] } = await tx.query<{ count: number, running: number }>(`
    SELECT (SELECT count(*)::integer FROM ledger.webhook_recoveries WHERE assistant_id = $2) AS running,
           (SELECT count(*)::integer FROM (
             SELECT FROM ledger.webhook_deliveries
             WHERE user_id = $1 AND assistant_id = $2 AND ${isRecoverable}
               AND created_at >= $4 AND created_at <= coalesce($5, now()) LIMIT $6) found) AS count`,
  [userId, assistantId, statuses, since, until, mostRecovered + 1])
  const { count = 0, running = 0 } = counted ?? {}
  if (count > mostRecovered) return { refused: 'too-many' }
  if (running >= mostOfAssistant) return { refused: 'busy' }
  if (count === 0) return { count }
  await tx.query(`
    INSERT INTO ledger.webhook_recoveries (user_id, assistant_id, statuses, after_created, after_id, until)
    VALUES ($1, $2, $3, $4, '${zeroId}', coalesce($5, now()))`, [userId, assistantId, statuses, since, until])
  return { count }
}

const atOnce = 20

/** One batch of the oldest recovery of some assistants. @returns how many deliveries were scheduled or held */
export async function continueRecoveries (pool: Pool, streams: Pick<Streams, 'read'>): Promise<number> {
  const { rows } = await pool.query<{ id: string }>(`
    SELECT id FROM (
      SELECT DISTINCT ON (assistant_id) id FROM ledger.webhook_recoveries ORDER BY assistant_id, id) oldest
    ORDER BY random() LIMIT ${atOnce}`) // so that nobody waits for those whose receivers are slow
  let done = 0
  for (const { id } of rows) done += await inTransaction(pool, (tx) => continueOne(tx, streams, id))
  return done
}

interface Recovery {
  user_id: string
  assistant_id: string
  statuses: Recoverable[]
  after_created: string
  after_id: string
  until: string
  url: string | null
  is_active: boolean
  is_new: boolean
  pending: number
}

const batchSize = 100
/** More of the assistant's that are due already would only wait, and calls of now behind them. */
const mostPending = 200

async function continueOne (tx: PoolClient, streams: Pick<Streams, 'read'>, id: string): Promise<number> {
  const recovery = await lockRecovery(tx, id)
  if (!recovery || recovery.pending > mostPending) return 0
  const { url, is_active: isActive, is_new: isNew, user_id: userId } = recovery
  if (!isActive || url === null) {
    if (!isNew) await remove(tx, id) // the dispatcher may not have heard yet that the webhook is on
    return 0
  }
  const found = await findBatch(tx, recovery)
  const last = found.at(-1)
  if (!last) return await remove(tx, id)
  const skipped = found.filter(({ status }) => status === 'skipped')
  await buildSkippedBodies(tx, streams, skipped.map(({ call_id }) => call_id))
  const [endpoint = ''] = await endpointIds(tx, [{ user_id: userId, url }])
  const changed = await beginAnew(tx, found.map((row) => row.id), found.map(() => endpoint))
  await tx.query('UPDATE ledger.webhook_recoveries SET after_created = $2, after_id = $3 WHERE id = $1', [
    id, last.created_at, last.id
  ])
  await notifyDue(tx, userId)
  return changed.length
}

async function lockRecovery (tx: PoolClient, id: string): Promise<Recovery | undefined> {
  const { rows: [recovery] } = await tx.query<Recovery>(`
    SELECT r.user_id, r.assistant_id, r.statuses, r.after_created::text, r.after_id, r.until::text,
           a.settings->>'webhook_url' AS url,
           coalesce((a.settings->>'is_webhook_active')::boolean, false) AS is_active,
           r.created_at > now() - interval '1 minute' AS is_new,
           (SELECT count(*)::integer FROM (
             SELECT FROM ledger.webhook_deliveries d
             WHERE d.assistant_id = r.assistant_id AND d.status = 'scheduled' AND d.next_attempt_at <= now()
             LIMIT $2) due) AS pending
    FROM ledger.webhook_recoveries r JOIN ledger.dispatch_assistants a USING (assistant_id)
    WHERE r.id = $1 FOR UPDATE OF r SKIP LOCKED FOR SHARE OF a -- its settings do not change meanwhile`, [id, mostPending + 1])
  return recovery
}

interface Found { id: string, call_id: string, status: string, created_at: string }

async function findBatch (tx: PoolClient, recovery: Recovery): Promise<Found[]> {
  const { rows } = await tx.query<Found>(`
    SELECT id, call_id, status, created_at::text FROM ledger.webhook_deliveries
    WHERE user_id = $1 AND assistant_id = $2 AND ${isRecoverable}
      AND (created_at, id) > ($4::timestamptz, $5::uuid) AND created_at <= $6
    ORDER BY created_at, id LIMIT ${batchSize}`, [
    recovery.user_id, recovery.assistant_id, recovery.statuses, recovery.after_created, recovery.after_id,
    recovery.until
  ])
  return rows
}

async function remove (tx: PoolClient, id: string): Promise<0> {
  await tx.query('DELETE FROM ledger.webhook_recoveries WHERE id = $1', [id])
  return 0
}

export interface RecoverOptions {
  pool: Pool
  /** Deliveries that were made then or later. */
  since: Date
  userId?: string | undefined
  assistantId?: number | undefined
  /** Stops after the batch that is under way. */
  signal: AbortSignal
  onProgress? (progress: { done: number, total: number }): void
  batchSize?: number
}

/** `held`: their endpoint is suspended, and they are sent when it resumes. `off`: the user switched the webhook off. */
export interface Recovered { scheduled: number, held: number, off: number }

type Batch = Recovered & { size: number, last: string | undefined }

// A delivery that is due already needs nothing: so a second run passes over what the first run did.
const lost = `
  created_at >= $1 AND ($2::text IS NULL OR user_id = $2) AND ($3::bigint IS NULL OR assistant_id = $3)
  AND status IN ('scheduled', 'held', 'exhausted', 'cancelled')
  AND body IS NOT NULL AND call_id IS NOT NULL AND started_at IS NULL
  AND NOT (status = 'scheduled' AND next_attempt_at <= clock_timestamp())`

/**
 * Schedules everything that is not delivered for now, with all its attempts before it, to the URL that its assistant
 * has now. Each batch is a transaction and shows in its rows: a call that was broken off goes on when it is repeated.
 */
export async function recover (options: RecoverOptions): Promise<Recovered> {
  const { pool, since, userId, assistantId, signal, onProgress = () => {}, batchSize = 500 } = options
  const filter = [since, userId ?? null, assistantId ?? null]
  const total = await countLost(pool, filter)
  const sum: Recovered = { scheduled: 0, held: 0, off: 0 }
  let after = zeroId
  for (let done = 0; ;) {
    signal.throwIfAborted()
    const batch = await inTransaction(pool, (tx) => recoverBatch(tx, filter, after, batchSize))
    for (const key of ['scheduled', 'held', 'off'] as const) sum[key] += batch[key]
    done += batch.size
    onProgress({ done, total: Math.max(done, total) })
    if (batch.last === undefined) return sum
    after = batch.last
  }
}

async function countLost (pool: Pool, filter: unknown[]): Promise<number> {
  const { rows: [counted] } = await pool.query<{ total: number }>(
    `SELECT count(*)::integer AS total FROM ledger.webhook_deliveries WHERE ${lost}`, filter)
  return counted?.total ?? 0
}

async function recoverBatch (tx: PoolClient, filter: unknown[], after: string, batchSize: number): Promise<Batch> {
  const rows = await findLost(tx, [...filter, after, batchSize])
  const sent = rows.flatMap(({ url, is_active, ...row }) => is_active && url !== null ? { ...row, url } : [])
  const endpoints = await endpointIds(tx, sent)
  const changed = await beginAnew(tx, sent.map(({ id }) => id), endpoints)
  for (const user of new Set(changed.map(({ user_id }) => user_id))) await notifyDue(tx, user)
  const scheduled = changed.filter(({ status }) => status === 'scheduled').length
  return {
    scheduled,
    held: changed.length - scheduled,
    off: rows.length - sent.length,
    size: rows.length,
    last: rows.at(-1)?.id
  }
}

interface LostRow { id: string, user_id: string, assistant_id: string, url: string | null, is_active: boolean }

async function findLost (tx: PoolClient, values: unknown[]): Promise<LostRow[]> {
  const { rows } = await tx.query<LostRow>(`
    SELECT d.id, d.user_id, d.assistant_id, a.settings->>'webhook_url' AS url,
           coalesce((a.settings->>'is_webhook_active')::boolean, false) AS is_active
    FROM (SELECT * FROM ledger.webhook_deliveries WHERE ${lost} AND id > $4 ORDER BY id LIMIT $5) d
    JOIN ledger.dispatch_assistants a ON a.assistant_id = d.assistant_id
    ORDER BY d.id FOR SHARE OF a -- the dispatcher changes no settings meanwhile`, values)
  return rows
}

/**
 * Schedules deliveries that are not delivered for now, each to its endpoint, with all attempts before them. Those of a
 * suspended endpoint are held. @returns those that were changed
 */
async function beginAnew (
  tx: PoolClient, ids: string[], endpoints: string[]
): Promise<{ user_id: string, status: string }[]> {
  const { rows } = await tx.query<{ user_id: string, status: string }>(`
    UPDATE ledger.webhook_deliveries d
    SET endpoint_id = e.id, failure_count = 0, crash_count = 0, next_attempt_at = clock_timestamp(), finished_at = NULL,
        queued_at = NULL,
        status = CASE WHEN e.suspended_at IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = CASE WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END,
        held_at = CASE WHEN e.suspended_at IS NOT NULL THEN coalesce(d.held_at, now()) END
    FROM unnest($1::uuid[], $2::bigint[]) AS wanted (id, endpoint_id)
    JOIN ledger.webhook_endpoints e ON e.id = wanted.endpoint_id
    WHERE d.id = wanted.id AND d.status IN ('scheduled', 'held', 'exhausted', 'cancelled')
      AND d.started_at IS NULL AND d.body IS NOT NULL
    RETURNING d.user_id, d.status`, [ids, endpoints])
  return rows
}
