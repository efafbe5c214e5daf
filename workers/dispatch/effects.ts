// What the dispatcher's events do: new deliveries, changed webhooks, erased and doubled calls, with the slots that they
// may be given at once.
import type { Pool, PoolClient } from 'pg'
import type { StoredEvent } from '../../src/domain/stored-event.js'
import { callIdOf } from '../../src/features/calls/events.js'
import { dispatcherCheckpoint } from '../../src/recovery/same-log.js'
import { movedSql } from '../../src/subscriptions/checkpoint.js'
import { traceParent } from '../../src/tracing/tracing.js'
import type { Effects, LogPosition, Refused, Statement } from '../../projections/engine/projection.js'
import { hidden } from '../../projections/engine/table.js'
import { type Address, endpointKeys, insertEndpoints, sharedEndpointsSql } from '../deliveries/endpoints.js'
import { eraseDeliveries } from '../deliveries/erase.js'
import { followSettings, type SettingsChange } from '../deliveries/follow-settings.js'
import type { FreshBodies } from '../deliveries/fresh-bodies.js'
import type { Enqueuer } from '../queue/enqueue.js'
import { acquireSql, acquireValues, type GivenRow, toGiven } from '../queue/slots.js'
import { callType, deliveryId } from './delivery-id.js'

export interface DispatcherOptions {
  pool: Pool
  /** Wait before the first attempt, in milliseconds. */
  firstDelayMs: number
  /** Gets what was given slots with its row, where nothing else is to be queued; nothing is when absent. */
  giveSlots?: Pick<Enqueuer, 'isIdle' | 'queueSoon'> | undefined
  /** Gets the bodies of what may be sent at once. */
  fresh?: FreshBodies | undefined
  /** Called after the commit with the users whose deliveries changed. */
  onDispatched (userIds: Iterable<string>): void
  log: { warn (details: object, message: string): void }
}

/**
 * `restored`: a database that was lost knew of the call, and may have delivered it. `erased`: so was its person, before
 * the call was reported or this database knew of it.
 */
export type SkipReason = 'webhook_off' | 'not_completed' | 'unknown_assistant' | 'invalid' | 'restored' | 'erased'

/** Calls that this process has recorded without a webhook to send, since it started, for metrics. */
export const skippedCalls: Record<SkipReason, number> = {
  webhook_off: 0, not_completed: 0, unknown_assistant: 0, invalid: 0, restored: 0, erased: 0
}

interface Row {
  id: string
  call_id: string
  user_id: string | null
  assistant_id: number | null
  position: bigint
  /** Of the span that appended its event, if that was traced. */
  traceparent: string | undefined
}

/** A call's row: without an address it is skipped. A skipped row with an address can still be sent by an operator. */
export type NewDelivery = Row &
  ({ skipped: SkipReason } | { user_id: string, url: string, body: string, skipped?: 'restored' | undefined })

export const rowOf = (
  { position, metadata }: Pick<LogPosition, 'position' | 'metadata'>, call_id: string, assistantId?: number, userId?: string
): Row => ({
  id: deliveryId(call_id),
  call_id,
  user_id: userId ?? null,
  assistant_id: assistantId ?? null,
  position,
  traceparent: traceParent(metadata.traceparent)
})

/** A batch of large bodies must not become one statement of hundreds of megabytes. */
const mostBytes = 4 * 2 ** 20
/** Of so many users what is due gets slots in one statement. */
const usersAtOnce = 100

/** Without options those of parked events that are read again: nothing is sent, and no call counted. */
export class DispatchEffects implements Effects {
  readonly checkpoint = dispatcherCheckpoint
  readonly isRetry: boolean
  readonly parked: Refused[] = []
  readonly #deliveries: NewDelivery[] = []
  readonly #rerouted = new Map<number, SettingsChange>()
  readonly #duplicates: { call_id: string, position: bigint }[] = []
  readonly #erased = new Set<string>()
  readonly #malformed: object[] = []
  /** Position of the newest event of each call that has a row, as far as this part of a batch has to know. */
  readonly #calls = new Map<string, bigint>()
  /** After a restore: up to `skipUntil` new calls are not sent, up to `rereadUntil` effects are not repeated. */
  #restored: { skipUntil: bigint, rereadUntil: bigint } | undefined
  #bytes = 0
  #addresses: Address[] = []
  #gives = false

  constructor (private readonly options?: DispatcherOptions) {
    this.isRetry = !options
  }

  isAlone (stored: StoredEvent): boolean {
    return !this.isRetry && callIn(stored) !== undefined
  }

  /** The positions of a restore come along with calls: there is a row without a call too. */
  async begin (db: Pool | PoolClient, events: readonly StoredEvent[], presumesNew: boolean): Promise<void> {
    for (const noted of [this.parked, this.#deliveries, this.#duplicates, this.#malformed]) noted.length = 0
    for (const noted of [this.#rerouted, this.#erased, this.#calls]) noted.clear()
    this.#bytes = 0
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

  /** Notes that nothing of the call is to be kept. @returns whether it has its row already */
  isErasedCall (call_id: string, position: bigint): boolean {
    const isKnown = this.#calls.has(call_id)
    this.#calls.set(call_id, position)
    this.#erased.add(call_id)
    return isKnown
  }

  follow (change: SettingsChange, position: bigint): void {
    if (this.#isReread(position)) return
    const switchedOn = change.switchedOn || this.#rerouted.get(change.assistant_id)?.switchedOn === true
    this.#rerouted.set(change.assistant_id, { ...change, switchedOn })
  }

  /** Up to there a lost database knew of the calls, and may have sent them. */
  isRestored (position: bigint): boolean {
    return this.#restored !== undefined && position <= this.#restored.skipUntil
  }

  #isReread (position: bigint): boolean {
    return this.#restored !== undefined && position <= this.#restored.rereadUntil
  }

  async prepare (db: Pool | PoolClient): Promise<void> {
    const { addresses } = endpointsOf(this.#deliveries)
    if (addresses.length > 0) await insertEndpoints(db, addresses)
  }

  statement (): Statement {
    const deliveries = this.#deliveries
    const { addresses, nthOf } = endpointsOf(deliveries)
    this.#addresses = addresses
    this.#gives = this.#givesSlots()
    if (deliveries.length === 0) return { values: [] }
    const values = [
      deliveries.map(({ call_id }) => call_id), addresses.length, ...endpointKeys(addresses),
      ...rowValues(deliveries, nthOf, this.options?.firstDelayMs ?? 0)
    ]
    const inserting = { name: 'd', moving: movingSql, part: insertSql, values }
    return this.#gives ? { ...inserting, name: 's', end: slotsSql, values: [...values, ...acquireValues] } : inserting
  }

  /** Where nobody waits for slots, what is due at once gets them with its row: another statement would only do that. */
  #givesSlots (): boolean {
    if (!this.options?.giveSlots?.isIdle || this.options.firstDelayMs > 0 || this.rest()) return false
    const users = new Set(this.#addresses.map(({ user_id }) => user_id)).size
    return users > 0 && users <= usersAtOnce
  }

  rest (): ((tx: PoolClient) => Promise<void>) | undefined {
    const [rerouted, erased, duplicates] = [[...this.#rerouted.values()], [...this.#erased], [...this.#duplicates]]
    if (rerouted.length + erased.length + duplicates.length === 0) return undefined
    return async (tx) => {
      await followSettings(tx, rerouted)
      await eraseDeliveries(tx, erased)
      await countDuplicates(tx, duplicates) // last: it locks deliveries, and a move locks itself before those
    }
  }

  written (rows: object[]): void {
    if (!this.options) return
    const { firstDelayMs, fresh, giveSlots, onDispatched, log } = this.options
    for (const problem of this.#malformed) log.warn(problem, 'event is malformed')
    const users = new Set(Array.from(this.#rerouted.values(), ({ user_id }) => user_id))
    for (const each of this.#deliveries) {
      if (each.skipped !== undefined) skippedCalls[each.skipped] += 1
      else {
        users.add(each.user_id)
        if (firstDelayMs === 0) fresh?.keep(each.id, each.body)
      }
    }
    if (!this.#gives) return onDispatched(users)
    const given = rows as GivenRow[] // as `slotsSql` ends the statement
    giveSlots?.queueSoon(toGiven(given.filter(({ id }) => id !== null)), users)
  }
}

/** The call of an event about one, from its stream: also when the event is malformed. */
const callIn = ({ type, stream }: StoredEvent) =>
  type === 'CallCompleted' || type === 'CallErased' ? callIdOf(stream) : undefined

/**
 * Moves the checkpoint where the calls $5 have no rows yet and their $6 endpoints are there: the relation `endpoints`.
 * The checkpoint is locked before endpoints are, as in a transaction. It is found again by its place: of a table that
 * was never analyzed Postgres expects so many rows that it would plan this anew each time.
 */
const movingSql = (after: number) => `
  WITH held AS MATERIALIZED (
    SELECT checkpoint.ctid AS place FROM ${dispatcherCheckpoint} AS checkpoint
    WHERE position = $2 AND epoch = $3 AND checkpoint.xmin = $4::text::xid AND NOT EXISTS (
      SELECT FROM ledger.webhook_deliveries WHERE call_id = ANY(${hidden(5, 'text')}::text[]) AND type = '${callType}')
    FOR UPDATE
  ), endpoints AS MATERIALIZED (
    ${sharedEndpointsSql(6, 'EXISTS (SELECT FROM held)')} FOR SHARE OF e
  ), moved AS (
    UPDATE ${dispatcherCheckpoint} AS checkpoint SET ${movedSql(after)}
    FROM held WHERE checkpoint.ctid = held.place AND (SELECT count(*) FROM endpoints) = $6
    RETURNING checkpoint.xmin::text AS version
  )`

/** Those of a suspended endpoint are held at once. */
const insertSql = `, deliveries_saved AS (
  INSERT INTO ledger.webhook_deliveries
    (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body,
     status, reason, next_attempt_at, held_at, traceparent)
  SELECT d.id, call_id, '${callType}', d.user_id, assistant_id, d.position, d.position, e.id,
         convert_from(substr($9::bytea, body_from, body_bytes), 'UTF8'),
         CASE
           WHEN skipped IS NOT NULL THEN 'skipped'
           WHEN e.suspended_at IS NOT NULL THEN 'held'
           ELSE 'scheduled' END,
         CASE
           WHEN skipped IS NOT NULL THEN skipped
           WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END,
         CASE WHEN skipped IS NULL THEN clock_timestamp() + $10::float8 * interval '1 ms' END,
         CASE WHEN e.suspended_at IS NOT NULL THEN now() END,
         traceparent
  FROM moved, unnest(
    ${['uuid', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text', 'integer', 'integer', 'text']
      .map((type, nth) => hidden(nth + 11, type)).join(', ')}
  ) AS d (id, call_id, user_id, assistant_id, position, endpoint, skipped, body_from, body_bytes, traceparent)
  LEFT JOIN endpoints e ON e.nth = d.endpoint
  RETURNING id, user_id, status)`

/**
 * Ends the statement with the jobs of what it inserted, and of what waited before. The function sees what was inserted,
 * as each of its own statements looks anew; this one does not.
 */
const slotsSql = `
  SELECT moved.version, job.*,
         coalesce(saved.user_id, (SELECT user_id FROM ledger.webhook_deliveries d WHERE d.id = job.id)) AS user_id
  FROM moved
  LEFT JOIN LATERAL ${acquireSql("ARRAY(SELECT DISTINCT user_id FROM deliveries_saved WHERE status = 'scheduled')", 20)}
    AS job ON true
  LEFT JOIN deliveries_saved saved ON saved.id = job.id`

/** From $9 on. */
function rowValues (rows: NewDelivery[], nthOf: Map<string, number>, firstDelayMs: number): unknown[] {
  const { bytes, spans } = joinedBodies(rows)
  return [
    bytes,
    firstDelayMs,
    rows.map(({ id }) => id),
    rows.map(({ call_id }) => call_id),
    rows.map(({ user_id }) => user_id),
    rows.map(({ assistant_id }) => assistant_id),
    rows.map(({ position }) => position),
    rows.map(({ id }) => nthOf.get(id) ?? null),
    rows.map(({ skipped }) => skipped ?? null),
    spans.map((span) => span?.from ?? null),
    spans.map((span) => span?.length ?? null),
    rows.map(({ traceparent }) => traceparent ?? null)
  ]
}

interface Span { from: number, length: number }

/**
 * The bodies as one parameter, and where each begins, counted from 1. As elements of an array every quote in them would
 * be escaped here and unescaped there, which takes longer than everything else about a row.
 */
function joinedBodies (rows: NewDelivery[]): { bytes: Buffer, spans: (Span | undefined)[] } {
  const bodies = rows.map((row) => 'body' in row ? Buffer.from(row.body) : undefined)
  let next = 1
  const spans = bodies.map((body) => {
    const from = next
    next += body?.length ?? 0
    return body && { from, length: body.length }
  })
  return { bytes: Buffer.concat(bodies.flatMap((body) => body ?? [])), spans }
}

/** @returns each address once, and which of them a delivery is for, counted from 1 */
function endpointsOf (deliveries: NewDelivery[]): { addresses: Address[], nthOf: Map<string, number> } {
  const addresses: Address[] = []
  const places = new Map<string, number>()
  const nthOf = new Map<string, number>()
  for (const delivery of deliveries) {
    if (!('url' in delivery)) continue
    const { id, user_id, url } = delivery
    const key = JSON.stringify([user_id, url])
    const nth = places.get(key) ?? addresses.push({ user_id, url })
    places.set(key, nth)
    nthOf.set(id, nth)
  }
  return { addresses, nthOf }
}

/** Counts later events of calls that have their row. */
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
