// Sends undelivered webhooks again: for users batch by batch between other work, and for operators at once.
import type { PoolClient, Pool } from 'pg'
import { inTransaction, lockFor } from '../../src/postgres/transaction.js'
import type { Streams } from '../../src/log/event-log.js'
import { notifyDue } from '../deliveries/webhooks.js'
import { beginAnew } from '../deliveries/pending.js'
import { isClosed } from '../deliveries/read.js'
import type { BackgroundKind } from '../work/kind.js'
import { addWork } from '../work/requests.js'
import { buildSkippedBodies } from './skipped-bodies.js'

/** Recovered by default; `scheduled` ones only wait for a retry. */
export const lostStatuses = ['exhausted', 'cancelled', 'skipped', 'held'] as const
export const recoverable = [...lostStatuses, 'scheduled'] as const
export type Recoverable = typeof recoverable[number]

/** ISO 8601; `until` is now when absent. */
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

const isDue = `EXISTS (
  SELECT FROM ledger.webhook_due due
  WHERE due.delivery_id = d.id AND due.trigger = 'schedule' AND (due.worker IS NOT NULL OR due.due_at <= clock_timestamp()))`

/**
 * A condition on a delivery `d` of the assistant, by its status as it is shown; `$3` are statuses. A skipped call can
 * be sent if its user had only switched the webhook off. Other deliveries need their payload, and those that are due
 * need no recovery.
 */
const isRecoverable = (assistant = '$2') => `EXISTS (
  SELECT FROM ledger.webhook_deliveries one WHERE one.id = d.id AND call_id IS NOT NULL
    AND CASE WHEN status = 'skipped' THEN reason = 'webhook_off' ELSE body IS NOT NULL END AND CASE
      WHEN status <> 'scheduled' THEN status
      WHEN (SELECT ${isClosed('w')} FROM ledger.webhooks w WHERE w.assistant_id = ${assistant}) THEN 'held'
      WHEN NOT ${isDue} THEN status END = ANY($3::text[]))`

export const recoveryKind = 'webhook-recovery'

interface Input {
  assistant_id: number
  statuses: readonly Recoverable[]
  since: string
  until: string
  /** Only these, 1,000 at most. */
  ids?: readonly string[]
}
interface Progress {
  /** Time and id of the last delivery that was looked at: the oldest come first. */
  after: [createdAt: string, id: string]
  waits_for?: string
}

/** Notes a recovery. @returns how many deliveries it has, or why it was refused */
export async function requestRecovery (tx: PoolClient, request: RecoveryRequest): Promise<Requested> {
  const { userId, assistantId, since, until = null, statuses } = request
  const { rows: [counted] } = await tx.query<{ until: string, count: number }>(`
    SELECT coalesce($5, now())::text AS until,
           (SELECT count(*)::integer FROM (
             SELECT FROM ( -- the index has all of this
               SELECT id FROM ledger.webhook_deliveries
               WHERE user_id = $1 AND assistant_id = $2 AND created_at >= $4 AND created_at <= coalesce($5, now())
                 AND status <> 'delivered' OFFSET 0) d
             WHERE ${isRecoverable()} LIMIT $6) found) AS count`,
  [userId, assistantId, statuses, since, until, mostRecovered + 1])
  if (!counted) throw new Error('a count gave no row')
  const { count } = counted
  if (count > mostRecovered) return { refused: 'too-many' }
  return await note(tx, userId, { assistant_id: assistantId, statuses, since, until: counted.until }, count)
}

/** The same by ids, for deliveries of any assistant of the user. It passes over those of other users. */
export async function requestRecoveryOf (tx: PoolClient, userId: string, ids: readonly string[]): Promise<Requested> {
  const { rows } = await tx.query<{ assistant_id: number, ids: string[], since: string, until: string }>(`
    SELECT assistant_id::float8 AS assistant_id, json_agg(id) AS ids, min(created_at)::text AS since, max(created_at)::text AS until
    FROM ledger.webhook_deliveries d
    WHERE id = ANY($1::uuid[]) AND user_id = $2 AND ${isRecoverable('d.assistant_id')} GROUP BY assistant_id ORDER BY assistant_id`,
  [ids, userId, recoverable])
  for (const found of rows) {
    const noted = await note(tx, userId, { ...found, statuses: recoverable }, found.ids.length)
    if ('refused' in noted) return noted
  }
  return { count: rows.reduce((sum, found) => sum + found.ids.length, 0) }
}

/** Takes a lock: until this transaction ends, nobody else notes a recovery of the assistant. */
async function note (tx: PoolClient, userId: string, input: Input, count: number): Promise<Requested> {
  await lockFor(tx, recoveryKind, String(input.assistant_id))
  const { rows: [counted] } = await tx.query<{ running: number }>(`
    SELECT count(*)::integer AS running FROM ledger.work
    WHERE kind = '${recoveryKind}' AND user_id = $1 AND state = 'accepted' AND (input ->> 'assistant_id')::bigint = $2`,
  [userId, input.assistant_id])
  if ((counted?.running ?? 0) >= mostOfAssistant) return { refused: 'busy' }
  if (count > 0) await addWork(tx, recoveryKind, userId, input)
  return { count }
}

const lookedAt = 1_000
const batchSize = 100
/** If more are due, further ones would only wait, and new calls after them. */
const mostPending = 200
/** A failing webhook gets one attempt at a time. */
const lookAgainMs = { usually: 1_000, ofFailing: 60_000 }

export function recoveries (
  { pool, streams }: { pool: Pool, streams: Pick<Streams, 'read'> }
): BackgroundKind<Input, Progress> {
  return {
    keepDays: 1,
    async work ({ userId, input, progress }, turn) {
      let after: Progress['after'] = progress.after ?? [input.since, zeroId]
      while (!turn.isOver()) {
        const inMs = await waitsMs(pool, input.assistant_id)
        if (inMs > 0) {
          await turn.keep({ after, waits_for: 'deliveries that are due' })
          return { state: 'waiting', inMs }
        }
        const { found, last } = await findBatch(pool, userId, input, after)
        if (!last) return { state: 'completed' }
        after = last
        await turn.keep({ after }, async (tx) => {
          await buildSkippedBodies(tx, streams, found.flatMap(({ status, call_id }) => status === 'skipped' ? call_id : []))
          await beginAnew(tx, found.map(({ id }) => id))
          await notifyDue(tx, String(input.assistant_id))
        })
      }
      return 'again'
    }
  }
}

/** How long to wait for those that are due; 0 if they are few, or nothing is sent meanwhile. */
async function waitsMs (pool: Pool, assistantId: number): Promise<number> {
  const { rows: [found] } = await pool.query<{ due: number, is_failing: boolean }>(`
    SELECT failing_since IS NOT NULL AS is_failing, (SELECT count(*)::integer FROM (
      SELECT FROM ledger.webhook_due due
      WHERE due.assistant_id = $1 AND worker IS NULL AND crashes < 2 AND trigger = 'schedule' AND due_at <= now() LIMIT $2) them) AS due
    FROM ledger.webhooks w WHERE assistant_id = $1 AND NOT ${isClosed('w')}`, [assistantId, mostPending])
  if (!found || found.due < mostPending) return 0
  return found.is_failing ? lookAgainMs.ofFailing : lookAgainMs.usually
}

interface Found { id: string, call_id: string, status: string, created_at: string, is_wanted: boolean | null }

/** The next ones, and the place of the last that was looked at; nothing behind the end. */
async function findBatch (
  pool: Pool, userId: string, { assistant_id: assistantId, statuses, until, ids }: Input, [createdAt, id]: Progress['after']
): Promise<{ found: Found[], last: Progress['after'] | undefined }> {
  const { rows } = await pool.query<Found>(`
    SELECT id, call_id, status, created_at::text, CASE WHEN assistant_id = $2 THEN ${isRecoverable()} END AS is_wanted FROM (
      SELECT id, call_id, status, created_at, assistant_id FROM ledger.webhook_deliveries
      WHERE user_id = $1 AND (created_at, id) > ($4::timestamptz, $5::uuid) AND created_at <= $6 ${ids ? 'AND id = ANY($7::uuid[])' : ''}
      ORDER BY created_at, id LIMIT ${lookedAt}) d ORDER BY d.created_at, d.id`,
  [userId, assistantId, statuses, createdAt, id, until, ...ids ? [ids] : []])
  const found = rows.filter((row) => row.is_wanted).slice(0, batchSize)
  const last = found.length === batchSize ? found.at(-1) : rows.at(-1)
  return { found, last: last && [last.created_at, last.id] }
}

interface RecoverOptions {
  pool: Pool
  /** Deliveries that were made then or later. */
  since: Date
  userId?: string | undefined
  assistantId?: number | undefined
  /** Stops after the batch that is under way. */
  signal: AbortSignal
  /** Called with the part of the delivery log that was searched, 0 to 1, and the number found. */
  onProgress? (progress: { found: number, done: number }): void
  /** Deliveries that are looked at in one transaction, 1,000 at most. */
  batchSize?: number
}

/** `held`: their webhook is suspended, and they are sent when it resumes. `off`: the user switched the webhook off. */
export interface Recovered { scheduled: number, held: number, off: number }

interface LostRow { id: string, becomes: keyof Recovered }

/**
 * Makes everything that is not delivered due now, with a new schedule. Each batch is a transaction and shows in its
 * rows, so a call that broke off goes on when it is repeated.
 */
export async function recover (options: RecoverOptions): Promise<Recovered> {
  const { pool, since, userId, assistantId, signal, onProgress = () => {}, batchSize = lookedAt } = options
  const filter = [since, userId ?? null, assistantId ?? null]
  const sum: Recovered = { scheduled: 0, held: 0, off: 0 }
  for (let after = zeroId; ;) {
    signal.throwIfAborted()
    const { lost, last } = await inTransaction(pool, (tx) => recoverBatch(tx, [...filter, after, batchSize]))
    for (const { becomes } of lost) sum[becomes] += 1
    onProgress({ found: sum.scheduled + sum.held + sum.off, done: last === null ? 1 : shareUpTo(last) })
    if (last === null) return sum
    after = last
  }
}

/** Ids are spread evenly. */
const shareUpTo = (id: string) => Number.parseInt(id.slice(0, 8), 16) / 2 ** 32

// A second run passes over what the first run did, as it is due.
const lostSql = `
  WITH looked AS MATERIALIZED (
    SELECT id, call_id, user_id, assistant_id, status, created_at, body IS NOT NULL AS has_body
    FROM ledger.webhook_deliveries WHERE id > $4 ORDER BY id LIMIT $5
  )
  SELECT (SELECT id FROM looked ORDER BY id DESC LIMIT 1) AS last, coalesce(json_agg(json_build_object('id', d.id, 'becomes', CASE
    WHEN w.off_since IS NOT NULL THEN 'off' WHEN w.suspended_at IS NOT NULL THEN 'held' ELSE 'scheduled' END)), '[]') AS lost
  FROM looked d JOIN ledger.webhooks w USING (assistant_id)
  WHERE d.created_at >= $1 AND ($2::text IS NULL OR d.user_id = $2) AND ($3::bigint IS NULL OR assistant_id = $3)
    AND status IN ('scheduled', 'held', 'exhausted', 'cancelled') AND has_body AND call_id IS NOT NULL
    AND NOT (status = 'scheduled' AND w.off_since IS NULL AND ${isDue})`

async function recoverBatch (tx: PoolClient, values: unknown[]): Promise<{ lost: LostRow[], last: string | null }> {
  const { rows: [batch] } = await tx.query<{ lost: LostRow[], last: string | null }>(lostSql, values)
  const { lost = [], last = null } = batch ?? {}
  const renewed = await beginAnew(tx, lost.flatMap(({ id, becomes }) => becomes === 'off' ? [] : id))
  await notifyDue(tx, ...new Set(renewed.map(({ assistant_id }) => assistant_id)))
  const done = new Set(renewed.map(({ id }) => id))
  return { lost: lost.filter(({ id, becomes }) => becomes === 'off' || done.has(id)), last }
}
