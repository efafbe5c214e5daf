// Endpoints, one per user and URL: inserted when first needed, suspended and resumed, with their deliveries.
import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Interruption } from '../../src/features/webhooks/model.js'
import { hidden } from '../../projections/engine/table.js'
import { notifyDue } from './due-channel.js'
import { isPending } from './moves/batch-sql.js'
import { moveEndpoints } from './moves/moves.js'
import { endWaits } from './pauses.js'

/** An endpoint that only fails for so long is suspended by its next failure. A Postgres interval. */
export const suspendAfter = '5 days'

/** Pending deliveries are counted up to here: ten times as many, between what a million moves left, take 0.1 s. */
const mostCounted = 1_000

export interface Address { user_id: string, url: string }

/**
 * The ids of the endpoints of `addresses`, in their order; missing ones are inserted. Until the transaction ends none
 * of them is suspended or resumed: what it writes for them fits what it sees. Call it before a delivery is locked.
 */
export async function endpointIds (tx: PoolClient, addresses: Address[]): Promise<string[]> {
  if (addresses.length === 0) return []
  const found = await findEndpoints(tx, addresses)
  if (found.length === addresses.length) return found
  await insertEndpoints(tx, addresses)
  return await findEndpoints(tx, addresses)
}

async function findEndpoints (tx: PoolClient, wanted: Address[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-endpoints', text: `${sharedEndpointsSql()} ORDER BY nth FOR SHARE OF e`, values: endpointKeys(wanted)
  })
  return rows.map(({ id }) => id)
}

/**
 * SQL for the endpoints of addresses that are there, as `endpointIds` locks them where `FOR SHARE OF e` follows.
 * @param after how many parameters of a larger statement come before
 * @param condition what has to be true of that statement
 */
export const sharedEndpointsSql = (after = 0, condition = 'true') => `
  SELECT nth, e.id, e.suspended_at
  FROM unnest(${hidden(after + 1, 'text')}, ${hidden(after + 2, 'bytea')}) WITH ORDINALITY AS wanted (user_id, url_digest, nth)
  JOIN ledger.webhook_endpoints e USING (user_id, url_digest) WHERE ${condition}`

/** The parameters of `sharedEndpointsSql`. */
export const endpointKeys = (addresses: Address[]): unknown[] =>
  [addresses.map(({ user_id }) => user_id), addresses.map(({ url }) => digest(normalized(url)))]

/** Those that are missing. */
export async function insertEndpoints (db: Pool | PoolClient, addresses: Address[]): Promise<void> {
  const wanted = addresses.map(({ user_id, url }) => ({ user_id, url: normalized(url) }))
  await db.query(`
    INSERT INTO ledger.webhook_endpoints (user_id, url, url_digest)
    SELECT DISTINCT * FROM unnest($1::text[], $2::text[], $3::bytea[])
    ON CONFLICT DO NOTHING`,
  [wanted.map(({ user_id }) => user_id), wanted.map(({ url }) => url), wanted.map(({ url }) => digest(url))])
}

/** One spelling of a URL. A URL that cannot be parsed stays as it is, and its attempts fail. */
function normalized (url: string): string {
  return URL.canParse(url) ? new URL(url).href : url.replaceAll('\0', '')
}

const digest = (url: string) => createHash('sha256').update(url).digest()

/** Why nothing is sent to the user's URL, if so. */
export async function findInterruption (pool: Pool, userId: string, url: string): Promise<Interruption | undefined> {
  const { rows: [found] } = await pool.query<{ reason: string, since: Date | null, until: Date | null }>({
    name: 'find-interruption',
    text: `
    SELECT coalesce(suspended_reason, pause_reason) AS reason, suspended_at AS since,
           CASE WHEN suspended_at IS NULL THEN paused_until END AS until
    FROM ledger.webhook_endpoints
    WHERE user_id = $1 AND url_digest = $2 AND (suspended_at IS NOT NULL OR paused_until > clock_timestamp())`,
    values: [userId, digest(normalized(url))]
  })
  if (!found) return undefined
  const { reason, since, until } = found
  return since
    ? { state: 'suspended', reason, since: since.toISOString(), until: null }
    : { state: 'paused', reason, since: null, until: until?.toISOString() ?? null }
}

/**
 * Suspends an endpoint and holds its pending deliveries until it resumes; many of them later, in batches. The reason
 * `failing` suspends only an endpoint that still fails for long enough: it may have recovered meanwhile.
 * @returns false when it was suspended before, or did recover
 */
export async function suspend (tx: PoolClient, endpointId: string, reason: 'gone' | 'failing'): Promise<boolean> {
  const { rowCount } = await tx.query(`
    UPDATE ledger.webhook_endpoints SET suspended_at = now(), suspended_reason = $2
    WHERE id = $1 AND suspended_at IS NULL
      AND ($2 = 'gone' OR failing_since <= now() - interval '${suspendAfter}')`, [endpointId, reason])
  if (rowCount === 0) return false
  await moveEndpoints(tx, [endpointId])
  return true
}

/**
 * Ends the suspension or pause of endpoints and schedules the deliveries that were held; most of them are due. Many
 * are scheduled later, in batches. The five days begin anew; what was told of its failures is told again only after a
 * success, so those in a row stay.
 * @returns how many deliveries, at most `mostCounted`
 */
export async function resumeEndpoints (tx: PoolClient, endpoints: string[]): Promise<number> {
  if (endpoints.length === 0) return 0
  await endWaits(tx, endpoints)
  await tx.query(`
    UPDATE ledger.webhook_endpoints
    SET suspended_at = NULL, suspended_reason = NULL, paused_until = NULL, pause_reason = NULL,
        failing_since = CASE WHEN suspended_at IS NULL THEN failing_since END
    WHERE id = ANY($1::bigint[]) AND (suspended_at IS NOT NULL OR paused_until IS NOT NULL)`, [endpoints])
  const held = await countHeld(tx, endpoints)
  await moveEndpoints(tx, endpoints)
  return held
}

async function countHeld (tx: PoolClient, endpoints: string[]): Promise<number> {
  const { rows: [counted] } = await tx.query<{ held: number }>(`
    SELECT count(*) FILTER (WHERE status = 'held' AND reason = 'endpoint_suspended')::integer AS held
    FROM (SELECT status, reason FROM ledger.webhook_deliveries
          WHERE endpoint_id = ANY($1::bigint[]) AND ${isPending} LIMIT $2) pending`, [endpoints, mostCounted])
  return counted?.held ?? 0
}

/** Resumes the endpoint of the user's URL, if there is one, and notifies workers. @returns how many deliveries */
export async function resumeUrl (tx: PoolClient, userId: string, url: string): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(`
    SELECT id FROM ledger.webhook_endpoints
    WHERE user_id = $1 AND url_digest = $2 AND (suspended_at IS NOT NULL OR paused_until IS NOT NULL)`,
  [userId, digest(normalized(url))])
  const resumed = await resumeEndpoints(tx, rows.map(({ id }) => id))
  if (rows.length > 0) await notifyDue(tx, userId)
  return resumed
}

/** Records the first success after failures. */
export async function recordSuccess (pool: Pool, endpointId: string): Promise<void> {
  await pool.query(`
    UPDATE ledger.webhook_endpoints SET failing_since = NULL, failures_in_row = 0
    WHERE id = $1 AND (failing_since IS NOT NULL OR failures_in_row > 0)`, [endpointId])
}
