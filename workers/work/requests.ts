// The rows of requests as their routes see them: prepared, accepted, read, counted; and how workers hear of them.
import type { Pool, PoolClient } from 'pg'
import { type Page, type Paged, readPage } from '../../src/postgres/page.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import type { Listener, Notifications } from '../../src/postgres/notifications.js'

export interface NewRequest {
  /** A UUID that a retry of the same command repeats. */
  id: string
  kind: string
  userId: string
  input: object
  /** What is shown before anything was done; an empty object when absent. */
  progress?: object
  /** Those that are completed count as well, as long as they are kept. */
  countsKept?: boolean
}

/** How a request stands. */
export interface RequestStatus<Progress extends object = object> {
  id: string
  kind: string
  state: 'accepted' | 'completed' | 'failed'
  progress: Partial<Progress>
  reason: string | null
  created_at: Date
  finished_at: Date | null
}

const lockSpace = 0x62_67 // any number that nothing else uses for advisory locks with two keys

/** Whoever counts what is under way before adding to it comes one after the other: a limit is no estimate. */
export async function lockForCount (tx: PoolClient, kind: string, owner: string): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockSpace, `${kind} ${owner}`])
}

/**
 * Keeps what is asked for, before its event is appended. A retry replaces what an earlier try prepared, and leaves what
 * was accepted as it is.
 * @param most requests of this kind that a user may have
 * @returns false when the user has so many others, and this is none that an earlier try prepared
 */
export async function prepareRequest (
  pool: Pool, { id, kind, userId, input, progress = {}, countsKept = false }: NewRequest, most: number
): Promise<boolean> {
  return await inTransaction(pool, async (tx) => {
    await lockForCount(tx, kind, userId)
    const { rowCount } = await tx.query(`
      INSERT INTO ledger.work AS kept (id, kind, user_id, input, progress)
      SELECT $1, $2, $3, $4, $5 WHERE $6 > (
        SELECT count(*) FROM ledger.work
        WHERE kind = $2 AND user_id = $3 AND id <> $1
          AND (state IN ('prepared', 'accepted') OR state = 'completed' AND $7))
        OR EXISTS (SELECT FROM ledger.work WHERE id = $1)
      ON CONFLICT (id) DO UPDATE
        SET input = CASE kept.state WHEN 'prepared' THEN excluded.input ELSE kept.input END`,
    [id, kind, userId, input, progress, most, countsKept])
    return rowCount === 1
  })
}

/** An estimate, before anything is prepared. @returns nothing where the user's Idempotency-Key is known */
export async function countUnfinished (
  pool: Pool, kind: string, [userId, method, route, key]: readonly [string, string, string, string | undefined]
): Promise<number | undefined> {
  const { rows: [row] } = await pool.query<{ count: number, is_known: boolean }>(`
    SELECT (SELECT count(*)::integer FROM ledger.work
        WHERE kind = $1 AND user_id = $2 AND state IN ('prepared', 'accepted')) AS count,
      EXISTS (SELECT FROM ledger.idempotency_keys
        WHERE user_id = $2 AND method = $3 AND route = $4 AND key = $5) AS is_known`,
  [kind, userId, method, route, key ?? null])
  return row?.is_known ? undefined : row?.count
}

/** The command was refused after all: what was prepared goes. */
export async function dropPrepared (pool: Pool, id: string): Promise<void> {
  await pool.query("DELETE FROM ledger.work WHERE id = $1 AND state = 'prepared'", [id])
}

/** Its event is in the log: from now on it is worked on. Again, it changes nothing. */
export async function acceptRequest (db: Pool | PoolClient, id: string): Promise<void> {
  const { rowCount } = await db.query(`
    UPDATE ledger.work SET state = 'accepted', due_at = now() WHERE id = $1 AND state = 'prepared'`, [id])
  if (rowCount === 1) await db.query(`NOTIFY ${channel}`)
}

/** Work that no event asks for. @param isAlone adds none while the user has some of this kind */
export async function addWork (
  db: Pool | PoolClient, kind: string, userId: string, input: object, isAlone = false
): Promise<void> {
  await db.query(`
    INSERT INTO ledger.work (id, kind, user_id, state, input) SELECT gen_random_uuid(), $1, $2, 'accepted', $3
    WHERE NOT $4 OR NOT EXISTS (SELECT FROM ledger.work WHERE kind = $1 AND user_id = $2 AND state = 'accepted')`,
  [kind, userId, input, isAlone])
  await db.query(`NOTIFY ${channel}`)
}

/** How far it is, where it will be worked on, or is. */
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
    SELECT id, kind, state, progress, reason, created_at, finished_at FROM ledger.work
    WHERE id = $1 AND kind = ANY($2) AND user_id = $3 AND state <> 'prepared'`, [id, kinds, userId])
  return found
}

/** Imports of this user that were accepted, the newest first: an index has those alone. */
export async function listImports<Progress extends object> (
  pool: Pool, userId: string, page: Page
): Promise<Paged<RequestStatus<Progress>>> {
  const { items, ...paged } = await readPage<RequestStatus<Progress>>(pool, {
    name: 'imports',
    columns: 'id, kind, state, progress, reason, created_at, finished_at',
    from: 'ledger.work',
    key: 'id',
    own: [['user_id = ?', userId], ["kind = 'lead-import'"], ["state <> 'prepared'"]],
    order: { direction: 'DESC', by: { created_at: 'timestamptz', id: 'uuid' } },
    item: `json_build_object('id', page.id, 'kind', page.kind, 'state', page.state, 'progress', page.progress,
      'reason', page.reason, 'created_at', page.created_at, 'finished_at', page.finished_at)`
  }, page)
  const dates = ({ created_at, finished_at }: RequestStatus) =>
    ({ created_at: new Date(created_at), finished_at: finished_at && new Date(finished_at) })
  return { ...paged, items: items.map((item) => ({ ...item, ...dates(item) })) }
}

/** Durable work as operators see it. */
export interface ListedWork {
  id: string
  kind: string
  user_id: string
  state: 'prepared' | 'accepted' | 'failed'
  /** Turns that it has had, and those in a row that kept nothing. */
  turns: number
  failures: number
  waits_for: string | null
  last_error: string | null
  created_at: Date
  /** When its next turn is due at the earliest. */
  due_at: Date
  finished_at: Date | null
}

/** What has not ended, the oldest first; behind it what failed within a day. */
export async function listWork (pool: Pool, most: number): Promise<ListedWork[]> {
  const { rows } = await pool.query<ListedWork>(`
    SELECT id, kind, user_id, state, turn::float8 AS turns, failures, progress ->> 'waits_for' AS waits_for,
      coalesce(reason, last_error) AS last_error, created_at, due_at, finished_at
    FROM ledger.work WHERE state IN ('prepared', 'accepted') OR (state = 'failed' AND finished_at > now() - interval '1 day')
    ORDER BY state = 'failed', created_at, id LIMIT $1`, [most])
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

/** By kind. A user has few unfinished ones, and an index has no others. */
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
