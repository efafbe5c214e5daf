// Endpoints, one per user and URL: inserted when first needed, suspended and resumed, with their deliveries.
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { announceDue } from '../queue/due-channel.js'

/** An assistant's webhook after its user changed it: `url` is null when it is off. */
export interface SettingsChange {
  assistant_id: number
  user_id: string
  url: string | null
  /** The change itself said that the webhook is on, which also resumes a suspended endpoint. */
  switchedOn: boolean
}

/** Only failures for so long, and the next one suspends the endpoint. As Postgres writes it. */
export const suspendAfter = '5 days'

interface Address { user_id: string, url: string }

/**
 * The ids of the endpoints of `addresses`, in their order; new ones are made. Until the transaction ends none of them is
 * suspended or resumed: what it writes for them fits what it sees. Call it before a row of a delivery is locked.
 */
export async function endpointIds (tx: PoolClient, addresses: Address[]): Promise<string[]> {
  if (addresses.length === 0) return []
  const wanted = addresses.map(({ user_id, url }) => ({ user_id, url: normalized(url) }))
  const found = await findEndpoints(tx, wanted)
  if (found.length === wanted.length) return found
  await tx.query(`
    INSERT INTO ledger.webhook_endpoints (user_id, url, url_digest)
    SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::bytea[])
    ON CONFLICT DO NOTHING`, [wanted.map(({ user_id }) => user_id), wanted.map(({ url }) => url), wanted.map(({ url }) => digest(url))])
  return await findEndpoints(tx, wanted)
}

async function findEndpoints (tx: PoolClient, wanted: Address[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-endpoints',
    text: `
    SELECT e.id FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS wanted (user_id, url_digest, nth)
    JOIN ledger.webhook_endpoints e USING (user_id, url_digest) ORDER BY nth FOR SHARE OF e`,
    values: [wanted.map(({ user_id }) => user_id), wanted.map(({ url }) => digest(url))]
  })
  return rows.map(({ id }) => id)
}

/** One spelling of a URL; one that cannot be parsed stays as it is, and its attempts fail. */
function normalized (url: string): string {
  return URL.canParse(url) ? new URL(url).href : url.replaceAll('\0', '')
}

const digest = (url: string) => createHash('sha256').update(url).digest()

/**
 * Pending deliveries follow their assistant: to a new URL, into `held` when the webhook was switched off, and out of
 * it when it is switched on again or points elsewhere. Running attempts are left alone.
 */
export async function followSettings (tx: PoolClient, changes: SettingsChange[]): Promise<void> {
  const off = changes.filter(({ url }) => url === null)
  const on = changes.flatMap(({ url, ...change }) => url === null ? [] : { ...change, url })
  const endpoints = await endpointIds(tx, on)
  await resumeEndpoints(tx, endpoints.filter((_, index) => on[index]?.switchedOn))
  if (off.length > 0) await hold(tx, off.map(({ assistant_id }) => assistant_id))
  if (on.length > 0) await reroute(tx, on.map(({ assistant_id }) => assistant_id), endpoints)
}

/** Why and since when nothing is sent to the user's URL, if so; the time in ISO 8601. */
export async function findSuspension (pool: Pool, userId: string, url: string): Promise<{ reason: string, since: string } | undefined> {
  const { rows: [found] } = await pool.query<{ reason: string, since: Date }>({
    name: 'find-suspension',
    text: `SELECT suspended_reason AS reason, suspended_at AS since FROM ledger.webhook_endpoints
           WHERE user_id = $1 AND url_digest = $2 AND suspended_at IS NOT NULL`,
    values: [userId, digest(normalized(url))]
  })
  return found && { reason: found.reason, since: found.since.toISOString() }
}

/** A test is not: it has one attempt, and goes where it was asked to. */
const isPending = "status IN ('scheduled', 'held') AND call_id IS NOT NULL"

async function hold (tx: PoolClient, assistantIds: number[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries
    SET status = 'held', reason = 'webhook_off', held_at = coalesce(held_at, now()), queued_at = CASE WHEN started_at IS NOT NULL THEN queued_at END
    WHERE assistant_id = ANY($1::bigint[]) AND ${isPending}`, [assistantIds])
}

async function reroute (tx: PoolClient, assistantIds: number[], endpoints: string[]): Promise<void> {
  await tx.query(`
    UPDATE ledger.webhook_deliveries d
    SET endpoint_id = e.id,
        status = CASE WHEN e.suspended_at IS NULL THEN 'scheduled' ELSE 'held' END,
        reason = CASE WHEN e.suspended_at IS NULL THEN NULL ELSE 'endpoint_suspended' END,
        held_at = CASE WHEN e.suspended_at IS NOT NULL THEN coalesce(d.held_at, now()) END,
        queued_at = CASE WHEN e.suspended_at IS NULL OR started_at IS NOT NULL THEN queued_at END
    FROM unnest($1::bigint[], $2::bigint[]) AS route (assistant_id, endpoint_id)
    JOIN ledger.webhook_endpoints e ON e.id = route.endpoint_id
    WHERE d.assistant_id = route.assistant_id AND ${isPending}`, [assistantIds, endpoints])
}

/**
 * Lifts the suspension of endpoints and schedules what was held for it; its time has mostly come.
 * @returns how many deliveries that were
 */
export async function resumeEndpoints (tx: PoolClient, endpoints: string[]): Promise<number> {
  if (endpoints.length === 0) return 0
  await tx.query(`
    UPDATE ledger.webhook_endpoints SET suspended_at = NULL, suspended_reason = NULL, failing_since = NULL
    WHERE id = ANY($1::bigint[]) AND suspended_at IS NOT NULL`, [endpoints])
  const { rowCount } = await tx.query(`
    UPDATE ledger.webhook_deliveries SET status = 'scheduled', reason = NULL, held_at = NULL
    WHERE endpoint_id = ANY($1::bigint[]) AND status = 'held' AND reason = 'endpoint_suspended'`, [endpoints])
  return rowCount ?? 0
}

/** The same for the user's URL, if there is such an endpoint; workers hear of it. @returns how many deliveries are scheduled again */
export async function resumeUrl (pool: Pool, userId: string, url: string): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      'SELECT id FROM ledger.webhook_endpoints WHERE user_id = $1 AND url_digest = $2 AND suspended_at IS NOT NULL', [userId, digest(normalized(url))])
    const resumed = await resumeEndpoints(tx, rows.map(({ id }) => id))
    if (resumed > 0) await announceDue(tx, userId)
    return resumed
  })
}

/**
 * Suspends an endpoint and holds its pending deliveries until it resumes. The reason `failing` suspends only an endpoint
 * that still fails for long enough: it may have recovered meanwhile.
 * @returns false when it was suspended before, or did recover
 */
export async function suspend (tx: PoolClient, endpointId: string, reason: 'gone' | 'failing'): Promise<boolean> {
  const { rowCount } = await tx.query(`
    UPDATE ledger.webhook_endpoints SET suspended_at = now(), suspended_reason = $2
    WHERE id = $1 AND suspended_at IS NULL AND ($2 = 'gone' OR failing_since <= now() - interval '${suspendAfter}')`, [endpointId, reason])
  if (rowCount === 0) return false
  await tx.query(`
    UPDATE ledger.webhook_deliveries
    SET status = 'held', reason = 'endpoint_suspended', held_at = now(), queued_at = CASE WHEN started_at IS NOT NULL THEN queued_at END
    WHERE endpoint_id = $1 AND status = 'scheduled' AND call_id IS NOT NULL`, [endpointId])
  return true
}

/** Notes the first failure after a success, and the first success after failures. */
export async function noteHealth (pool: Pool, endpointId: string, isHealthy: boolean): Promise<void> {
  await pool.query(`
    UPDATE ledger.webhook_endpoints SET failing_since = CASE WHEN $2 THEN NULL ELSE now() END
    WHERE id = $1 AND (failing_since IS NULL) <> $2`, [endpointId, isHealthy])
}
