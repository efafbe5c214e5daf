// The effects of the dispatcher's events: new deliveries, changed webhooks, erased and repeated calls.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { callIdOf } from '../../src/features/calls/events.js'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import { movedSql } from '../../src/subscriptions/checkpoint.js'
import { traceParent } from '../../src/tracing/tracing.js'
import type { Effects, LogPosition, Refused, Statement } from '../../projections/engine/projection.js'
import {
  columnsOf, hidden, namesOf, orNull, relation, type RowOf, table, typed
} from '../../projections/engine/table.js'
import { isOpen } from '../deliveries/claim.js'
import { eraseDeliveries } from '../deliveries/pending.js'
import { changeWebhooks, lockWebhooks, mostAtOnce, type WebhookChange } from '../deliveries/webhooks.js'
import { callType, deliveryId } from './payload.js'

export interface DispatcherOptions {
  pool: Pool
  /** Wait before the first attempt, in milliseconds. */
  firstDelayMs: number
  /** Called after the commit with assistants that have something to send now. */
  wake (assistants: Iterable<string>): void
  log: { warn (details: object, message: string): void }
}

/**
 * `restored`: a lost database knew the call, and may have delivered it. `erased`: the person was erased before the call
 * was reported, or before this database knew the call.
 */
export type SkipReason = 'webhook_off' | 'not_completed' | 'unknown_assistant' | 'invalid' | 'restored' | 'erased'

/** For metrics: calls that this process has recorded without a webhook to send since it started. */
export const skippedCalls: Record<SkipReason, number> = {
  webhook_off: 0, not_completed: 0, unknown_assistant: 0, invalid: 0, restored: 0, erased: 0
}

/** A delivery as a parameter of the statement; `call_id` is $5. */
const given = table({
  name: 'given',
  key: 'call_id',
  columns: {
    call_id: 'text',
    id: 'text',
    user_id: orNull('text'),
    assistant_id: orNull('bigint'),
    position: typed<bigint>('bigint'),
    traceparent: orNull('text'), // of the span that appended its event, if that was traced
    skipped: 'text',
    body: 'text'
  }
})
type Row = Omit<RowOf<typeof given>, 'skipped' | 'body'>

/** Without a body, a row is skipped. If a skipped row has a body, an operator can still send it. */
export type NewDelivery = Row &
  ({ skipped: SkipReason } | { user_id: string, body: string, skipped?: 'restored' | undefined })

export const rowOf = (
  { position, metadata }: Pick<LogPosition, 'position' | 'metadata'>, call_id: string, assistantId?: number, userId?: string
): Row => ({
  id: deliveryId(call_id),
  call_id,
  user_id: userId ?? null,
  assistant_id: assistantId ?? null,
  position,
  traceparent: traceParent(metadata.traceparent) ?? null
})

/** A batch of large bodies must not become one statement of hundreds of megabytes. */
const mostBytes = 4 * 2 ** 20

/** Without options, these are the effects of retried parked events: nothing is sent, and no call is counted. */
export class DispatchEffects implements Effects {
  readonly checkpoint = dispatcherCheckpoint
  readonly isRetry: boolean
  readonly parked: Refused[] = []
  readonly #deliveries: NewDelivery[] = []
  readonly #changes = new Map<number, WebhookChange>()
  /** Assistants whose deliveries the changes make due. */
  #due: string[] = []
  readonly #duplicates: { call_id: string, position: bigint }[] = []
  readonly #erased = new Set<string>()
  readonly #malformed: object[] = []
  /** Position of the newest event of each call that has a row, as far as this part of a batch has to know. */
  readonly #calls = new Map<string, bigint>()
  /** After a restore: up to `skipUntil` new calls are not sent, up to `rereadUntil` effects are not repeated. */
  #restored: { skipUntil: bigint, rereadUntil: bigint } | undefined
  #bytes = 0

  constructor (private readonly options?: DispatcherOptions) {
    this.isRetry = !options
  }

  isAlone (stored: StoredEvent): boolean {
    return !this.isRetry && callIn(stored) !== undefined
  }

  /** One query reads both the calls and the positions of a restore; it has a row even without a call. */
  async begin (db: Pool | PoolClient, events: readonly StoredEvent[], presumesNew: boolean): Promise<void> {
    for (const noted of [this.parked, this.#deliveries, this.#duplicates, this.#malformed]) noted.length = 0
    for (const noted of [this.#changes, this.#erased, this.#calls]) noted.clear()
    this.#bytes = 0
    this.#due = []
    if (this.isRetry) return
    const isNew = ({ type, position }: StoredEvent) =>
      type !== 'CallErased' && !this.isRestored(position) && !this.#isReread(position)
    if (presumesNew && this.#restored && events.every(isNew)) return
    const { rows } = await db.query<Record<'skip_until' | 'reread_until' | 'last_position', string> & { call_id: string | null }>({
      name: 'load-calls',
      text: `
      SELECT skip_until, reread_until, call_id, last_position
      FROM ledger.this_database LEFT JOIN ledger.webhook_deliveries ON call_id = ANY($1) AND type = '${callType}'`,
      values: [events.flatMap((stored) => callIn(stored) ?? [])]
    })
    for (const { call_id, last_position } of rows) if (call_id !== null) this.#calls.set(call_id, BigInt(last_position))
    this.#restored = { skipUntil: BigInt(rows[0]?.skip_until ?? 0), rereadUntil: BigInt(rows[0]?.reread_until ?? 0) }
  }

  isFull (): boolean {
    return this.#bytes >= mostBytes
  }

  unreadable (stored: StoredEvent, problem: string): boolean {
    const { stream, revision, position } = stored
    this.#malformed.push({ stream, revision: String(revision), problem })
    const callId = callIn(stored)
    if (callId === undefined || this.isRetry) return false
    if (!this.isKnownCall(callId, position)) this.add({ ...rowOf(stored, callId), skipped: 'invalid' })
    return true
  }

  add (delivery: NewDelivery): void {
    this.#deliveries.push(delivery)
    if ('body' in delivery) this.#bytes += delivery.body.length
  }

  /** Whether the call has its row; a newer event of it is noted as a duplicate. */
  isKnownCall (call_id: string, position: bigint): boolean {
    const last = this.#calls.get(call_id)
    if (last !== undefined && last >= position) return true
    this.#calls.set(call_id, position)
    if (last !== undefined && !this.#isReread(position)) this.#duplicates.push({ call_id, position })
    return last !== undefined
  }

  /** Notes that nothing of the call may be kept. @returns whether it has its row already */
  isErasedCall (call_id: string, position: bigint): boolean {
    const isKnown = this.#calls.has(call_id)
    this.#calls.set(call_id, position)
    this.#erased.add(call_id)
    return isKnown
  }

  follow (change: WebhookChange, position: bigint): void {
    if (this.#isReread(position)) return
    const switchedOn = change.switchedOn || this.#changes.get(change.assistant_id)?.switchedOn === true
    this.#changes.set(change.assistant_id, { ...change, switchedOn })
  }

  /** Whether a lost database knew the calls up to there, and may have sent them. */
  isRestored (position: bigint): boolean {
    return this.#restored !== undefined && position <= this.#restored.skipUntil
  }

  #isReread (position: bigint): boolean {
    return this.#restored !== undefined && position <= this.#restored.rereadUntil
  }

  statement (): Statement {
    const deliveries = this.#deliveries
    if (deliveries.length === 0) return { values: [] }
    const values = [...columnsOf(given, deliveries), this.options?.firstDelayMs ?? 0]
    return { name: 'd', moving: movingSql, part: insertSql, end: endSql, values }
  }

  rest (): ((tx: PoolClient) => Promise<void>) | undefined {
    const [changes, erased, duplicates] = [[...this.#changes.values()], [...this.#erased], [...this.#duplicates]]
    if (changes.length + erased.length + duplicates.length === 0) return undefined
    return async (tx) => { // rows are locked in the order webhooks, deliveries, due
      await lockWebhooks(tx, changes)
      for (let from = 0; from < erased.length; from += mostAtOnce) {
        await eraseDeliveries(tx, erased.slice(from, from + mostAtOnce))
      }
      await countDuplicates(tx, duplicates)
      this.#due = await changeWebhooks(tx, changes)
    }
  }

  written (rows: object[]): void {
    if (!this.options) return
    for (const problem of this.#malformed) this.options.log.warn(problem, 'event is malformed')
    for (const { skipped } of this.#deliveries) if (skipped !== undefined) skippedCalls[skipped] += 1
    const added = rows as Array<{ id?: string | null }> // as `endSql` ends the statement
    this.options.wake([...this.#due, ...added.flatMap(({ id }) => id ?? [])])
  }
}

/** The call of an event about one, from its stream: also when the event is malformed. */
const callIn = ({ type, stream }: StoredEvent) =>
  type === 'CallCompleted' || type === 'CallErased' ? callIdOf(stream) : undefined

/**
 * Moves the checkpoint if the calls $5 have no rows yet. The update finds the row again by its ctid: for a table that
 * was never analyzed, Postgres expects so many rows that it would plan each execution anew.
 */
const movingSql = (after: number) => `
  WITH held AS MATERIALIZED (
    SELECT checkpoint.ctid AS place FROM ${dispatcherCheckpoint} AS checkpoint
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid AND NOT EXISTS (
      SELECT FROM ledger.webhook_deliveries WHERE call_id = ANY(${hidden(5, 'text')}::text[]) AND type = '${callType}')
    FOR UPDATE
  ), moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET ${movedSql(after)}
    FROM held WHERE checkpoint.ctid = held.place RETURNING checkpoint.xmin::text AS version
  )`

const insertSql = `, added AS (
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, position, last_position, traceparent,
      body, status, reason, finished_at)
    SELECT id::uuid, call_id, '${callType}', user_id, assistant_id, position, position, traceparent, body,
      CASE WHEN skipped IS NULL THEN 'scheduled' ELSE 'skipped' END, skipped, CASE WHEN skipped IS NOT NULL THEN now() END
    FROM moved, ${relation(given, 4)} AS given (${namesOf(given.columns)})
    ON CONFLICT DO NOTHING RETURNING id, user_id, assistant_id, status
  ), due_added AS (
    INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at)
    SELECT id, 'schedule', assistant_id, user_id, clock_timestamp() + $13::float8 * interval '1 ms' FROM added
    WHERE status = 'scheduled'
  )`

/** Returns the assistants to wake, but not those that are closed or already wait for room of their user. */
const endSql = `
  SELECT moved.version, due.id FROM moved LEFT JOIN (
    SELECT DISTINCT added.assistant_id::text AS id FROM added LEFT JOIN ledger.webhooks w USING (assistant_id)
    WHERE added.status = 'scheduled' AND (w.assistant_id IS NULL OR (w.waits_since IS NULL AND ${isOpen('w')}))) due ON true`

/** Counts later events of calls that have a row. */
async function countDuplicates (tx: PoolClient, duplicates: { call_id: string, position: bigint }[]): Promise<void> {
  if (duplicates.length === 0) return
  await tx.query(`
    UPDATE ledger.webhook_deliveries d
    SET duplicates = d.duplicates + again.times, last_position = again.position
    FROM (SELECT call_id, count(*) AS times, max(position) AS position
          FROM unnest($1::text[], $2::bigint[]) AS x (call_id, position) GROUP BY call_id) again
    WHERE d.call_id = again.call_id AND d.type = '${callType}'`,
  [duplicates.map(({ call_id }) => call_id), duplicates.map(({ position }) => position)])
}
