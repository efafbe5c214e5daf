// Sends again what users asked for, little by little: what happens meanwhile has its turn in between.
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../../../src/postgres/transaction.js'
import type { Streams } from '../../../src/log/event-log.js'
import { notifyDue } from '../../deliveries/due-channel.js'
import { endpointIds } from '../../deliveries/endpoints.js'
import { beginAnew } from '../begin-anew.js'
import { isRecoverable, type Recoverable } from '../request-recovery.js'
import { buildSkippedBodies } from './skipped-bodies.js'

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
