// Rows of durable work, for routes: prepares, accepts, reads and counts requests, and notifies workers.
import type { Pool, PoolClient } from 'pg'
import { iso, type Page, type Paged, readPage } from '../../src/postgres/page.js'
import { inTransaction, lockFor } from '../../src/postgres/transaction.js'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'

export interface NewRequest {
  /** A UUID that a retry of the same command repeats. */
  id: string
  kind: string
  userId: string
  input: object
  /** What is shown before anything was done; an empty object when absent. */
  progress?: object
  /** Completed requests count too, as long as they are kept. */
  countsKept?: boolean
}

export interface RequestStatus<Progress extends object = object> {
  id: string
  kind: string
  state: 'accepted' | 'completed' | 'failed'
  progress: Partial<Progress>
  reason: string | null
  /** ISO 8601. */
  created_at: string
  finished_at: string | null
}

/** In milliseconds. No append comes so late, so older prepared requests count no more and are settled by the log. */
export const usualOrphanMs = 60_000
const isUnfinished = `(state = 'accepted' OR state = 'prepared' AND created_at > now() - interval '${usualOrphanMs} ms')`

/**
 * Stores a request before its event is appended. A retry replaces a request that is only prepared, and leaves an
 * accepted one alone.
 * @param most requests of this kind that a user may have
 * @returns false if the user has that many others, unless an earlier try prepared this one
 */
export async function prepareRequest (
  pool: Pool, { id, kind, userId, input, progress = {}, countsKept = false }: NewRequest, most: number
): Promise<boolean> {
  return await inTransaction(pool, async (tx) => {
    await lockFor(tx, kind, userId)
    const { rowCount } = await tx.query(`
      INSERT INTO ledger.work AS kept (id, kind, user_id, input, progress)
      SELECT $1, $2, $3, $4, $5 WHERE $6 > (
        SELECT count(*) FROM ledger.work
        WHERE kind = $2 AND user_id = $3 AND id <> $1
          AND (${isUnfinished} OR state = 'completed' AND $7))
        OR EXISTS (SELECT FROM ledger.work WHERE id = $1)
      ON CONFLICT (id) DO UPDATE
        SET input = CASE kept.state WHEN 'prepared' THEN excluded.input ELSE kept.input END,
          created_at = CASE kept.state WHEN 'prepared' THEN now() ELSE kept.created_at END`,
    [id, kind, userId, input, progress, most, countsKept])
    return rowCount === 1
  })
}

/** An estimate, before anything is prepared. @returns nothing if the user's Idempotency-Key is known */
export async function countUnfinished (
  pool: Pool, kind: string, [userId, method, route, key]: readonly [string, string, string, string | undefined]
): Promise<number | undefined> {
  const { rows: [row] } = await pool.query<{ count: number, is_known: boolean }>(`
    SELECT (SELECT count(*)::integer FROM ledger.work
        WHERE kind = $1 AND user_id = $2 AND ${isUnfinished}) AS count,
      EXISTS (SELECT FROM ledger.idempotency_keys
        WHERE user_id = $2 AND method = $3 AND route = $4 AND key = $5) AS is_known`,
  [kind, userId, method, route, key ?? null])
  return row?.is_known ? undefined : row?.count
}

/** For a command that was refused after `prepareRequest`. @param olderMs spares one that a retry has prepared since */
export async function dropPrepared (pool: Pool, id: string, olderMs = 0): Promise<void> {
  await pool.query(`
    DELETE FROM ledger.work
    WHERE id = $1 AND state = 'prepared' AND created_at <= now() - $2 * interval '1 ms'`, [id, olderMs])
}

/** Call it once the event is in the log; workers may then begin. Safe to repeat. */
export async function acceptRequest (db: Pool | PoolClient, id: string): Promise<void> {
  const { rowCount } = await db.query(`
    UPDATE ledger.work SET state = 'accepted', due_at = now() WHERE id = $1 AND state = 'prepared'`, [id])
  if (rowCount === 1) await db.query(`NOTIFY ${channel}`)
}

/** Adds work that has no event. @param isAlone adds none while the user has work of this kind */
export async function addWork (
  db: Pool | PoolClient, kind: string, userId: string, input: object, isAlone = false
): Promise<void> {
  await db.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input) SELECT gen_random_uuid(), $1, $2, 'accepted', $3
    WHERE NOT $4 OR NOT EXISTS (SELECT FROM ledger.work WHERE kind = $1 AND user_id = $2 AND state = 'accepted')`,
  [kind, userId, input, isAlone])
  await db.query(`NOTIFY ${channel}`)
}

/** The progress of a request that has not ended. */
export async function progressOf<Progress extends object> (
  pool: Pool, id: string
): Promise<Partial<Progress> | undefined> {
  const { rows: [found] } = await pool.query<{ progress: Partial<Progress> }>(`
    SELECT progress FROM ledger.work WHERE id = $1 AND state IN ('prepared', 'accepted')`, [id])
  return found?.progress
}

/** A request of this user that was accepted. */
export async function findRequest<Progress extends object> (
  pool: Pool, kinds: readonly string[], userId: string, id: string
): Promise<RequestStatus<Progress> | undefined> {
  const { rows: [found] } = await pool.query<RequestStatus<Progress>>(`
    SELECT id, kind, state, progress, reason, ${iso('created_at')} AS created_at, ${iso('finished_at')} AS finished_at
    FROM ledger.work WHERE id = $1 AND kind = ANY($2) AND user_id = $3 AND state <> 'prepared'`, [id, kinds, userId])
  return found
}

/** Accepted imports of this user, the newest first. They have an index of their own. */
export async function listImports<Progress extends object> (
  pool: Pool, userId: string, page: Page
): Promise<Paged<RequestStatus<Progress>>> {
  return await readPage(pool, {
    name: 'imports',
    columns: 'id, kind, state, progress, reason, created_at, finished_at',
    from: 'ledger.work',
    key: 'id',
    own: [['user_id = ?', userId], ["kind = 'lead-import'"], ["state <> 'prepared'"]],
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'uuid' } },
    item: `json_build_object('id', page.id, 'kind', page.kind, 'state', page.state, 'progress', page.progress,
      'reason', page.reason, 'created_at', ${iso('page.created_at')}, 'finished_at', ${iso('page.finished_at')})`
  }, page)
}

/** Durable work as operators see it. */
export interface ListedWork {
  id: string
  kind: string
  user_id: string
  state: 'prepared' | 'accepted' | 'failed'
  /** All turns so far, and the last ones in a row that kept nothing. */
  turns: number
  failures: number
  waits_for: string | null
  last_error: string | null
  /** ISO 8601, like `due_at`, when its next turn is due at the earliest. */
  created_at: string
  due_at: string
  finished_at: string | null
}

/** Unfinished work, the oldest first, then work that failed within a day. */
export async function listWork (pool: Pool, most: number): Promise<ListedWork[]> {
  const { rows } = await pool.query<ListedWork>(`
    SELECT id, kind, user_id, state, turn::float8 AS turns, failures, progress ->> 'waits_for' AS waits_for,
      coalesce(reason, last_error) AS last_error, ${iso('created_at')} AS created_at, ${iso('due_at')} AS due_at,
      ${iso('finished_at')} AS finished_at
    FROM ledger.work w WHERE state IN ('prepared', 'accepted') OR (state = 'failed' AND finished_at > now() - interval '1 day')
    ORDER BY state = 'failed', w.created_at, id LIMIT $1`, [most])
  return rows
}

export interface UnfinishedRequests {
  kind: string
  count: number
  /** Of them, those whose last turns kept nothing. */
  failing: number
  /** Age of the oldest one. */
  oldestSeconds: number
}

/** Cheap: a user has few unfinished requests, and an index has only those. */
export async function unfinishedByKind (pool: Pool): Promise<UnfinishedRequests[]> {
  const { rows } = await pool.query<UnfinishedRequests>(`
    SELECT kind, count(*)::integer AS count, count(*) FILTER (WHERE failures > 1)::integer AS failing,
      extract(epoch FROM now() - min(created_at))::float AS "oldestSeconds"
    FROM ledger.work WHERE state = 'accepted' GROUP BY kind`)
  return rows
}

const channel = 'ringledger_work'

export function listenForWork (notifications: Notifications, onWork: () => void): Listener {
  return notifications.listen(channel, { onNotification: onWork, onListening: onWork })
}
