// The rows of the delivery log for new calls, written with the dispatcher's checkpoint.
import type { PoolClient } from 'pg'
import { endpointIds } from '../deliveries/endpoints.js'
import { hidden } from '../deliveries/hidden.js'

/**
 * `restored`: a database that was lost knew of the call, and may have delivered it. `erased`: so was its person, before
 * the call was reported or this database knew of it.
 */
export type SkipReason = 'webhook_off' | 'not_completed' | 'unknown_assistant' | 'invalid' | 'restored' | 'erased'

/** A call's row: without an address it is skipped. A skipped row with an address can still be sent by an operator. */
export type NewDelivery = {
  id: string
  call_id: string
  type: string
  user_id: string | null
  assistant_id: number | null
  position: bigint
  /** Of the span that appended its event, if that was traced. */
  traceparent?: string | undefined
} & ({ skipped: SkipReason } | { user_id: string, url: string, body: string, skipped?: 'restored' | undefined })

export interface Duplicate { call_id: string, position: bigint }

/** A batch of large bodies must not become one statement of hundreds of megabytes. */
export const chunkBytes = 4 * 1024 * 1024

/** Inserts the rows of new calls. Those of a suspended endpoint are held at once. */
export async function insertDeliveries (
  tx: PoolClient, deliveries: NewDelivery[], firstDelayMs: number
): Promise<void> {
  for (const chunk of chunksBySize(deliveries)) await insertChunk(tx, chunk, firstDelayMs)
}

async function insertChunk (tx: PoolClient, rows: NewDelivery[], firstDelayMs: number): Promise<void> {
  const sent = rows.flatMap((row) => 'url' in row ? row : [])
  const endpoints = new Map((await endpointIds(tx, sent)).map((id, index) => [sent[index]?.id, id]))
  const values = rowValues(rows, (id) => endpoints.get(id) ?? null, firstDelayMs)
  await tx.query({ name: 'insert-deliveries', text: insertSql(), values })
}

/** The parameters of `insertSql`. @param endpointOf what its endpoint is looked up by */
export function rowValues (
  rows: NewDelivery[], endpointOf: (id: string) => string | number | null, firstDelayMs: number
): unknown[] {
  const { bytes, spans } = joinedBodies(rows)
  return [
    rows.map(({ id }) => id),
    rows.map(({ call_id }) => call_id),
    rows.map(({ type }) => type),
    rows.map(({ user_id }) => user_id),
    rows.map(({ assistant_id }) => assistant_id),
    rows.map(({ position }) => position),
    rows.map(({ id }) => endpointOf(id)),
    rows.map(({ skipped }) => skipped ?? null),
    spans.map((span) => span?.from ?? null),
    firstDelayMs,
    bytes,
    spans.map((span) => span?.length ?? null),
    rows.map(({ traceparent }) => traceparent ?? null)
  ]
}

/** Where the endpoints of rows are looked up: by their ids or, in a larger statement, in a relation of it. */
const ofLedger = { relation: 'ledger.webhook_endpoints', key: 'id', condition: '' }

/**
 * @param after how many parameters of a larger statement come before
 * @param endpoints `relation` has the columns `key`, id and suspended_at; `condition` is a relation of one row or none
 */
export const insertSql = (after = 0, endpoints = ofLedger) => `
  INSERT INTO ledger.webhook_deliveries
    (id, call_id, type, user_id, assistant_id, position, last_position, endpoint_id, body,
     status, reason, next_attempt_at, held_at, traceparent)
  SELECT d.id, call_id, type, d.user_id, assistant_id, d.position, d.position, e.id,
         convert_from(substr($${after + 11}::bytea, body_from, body_bytes), 'UTF8'),
         CASE
           WHEN skipped IS NOT NULL THEN 'skipped'
           WHEN e.suspended_at IS NOT NULL THEN 'held'
           ELSE 'scheduled' END,
         CASE
           WHEN skipped IS NOT NULL THEN skipped
           WHEN e.suspended_at IS NOT NULL THEN 'endpoint_suspended' END,
         CASE WHEN skipped IS NULL THEN clock_timestamp() + $${after + 10}::float8 * interval '1 ms' END,
         CASE WHEN e.suspended_at IS NOT NULL THEN now() END,
         traceparent
  FROM ${endpoints.condition} unnest(
    ${['uuid', 'text', 'text', 'text', 'bigint', 'bigint', 'bigint', 'text', 'integer']
      .map((type, nth) => hidden(after + nth + 1, type)).join(', ')},
    ${hidden(after + 12, 'integer')}, ${hidden(after + 13, 'text')}
  ) AS d (id, call_id, type, user_id, assistant_id, position, endpoint, skipped, body_from, body_bytes, traceparent)
  LEFT JOIN ${endpoints.relation} e ON e.${endpoints.key} = d.endpoint`

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

function chunksBySize (deliveries: NewDelivery[]): NewDelivery[][] {
  const chunks: NewDelivery[][] = []
  let room = 0
  for (const delivery of deliveries) {
    const size = 'body' in delivery ? delivery.body.length : 0
    if (room < size || chunks.length === 0) {
      chunks.push([])
      room = chunkBytes
    }
    chunks.at(-1)?.push(delivery)
    room -= size
  }
  return chunks
}

/** Counts later events of calls that have their row. */
export async function countDuplicates (tx: PoolClient, duplicates: Duplicate[]): Promise<void> {
  if (duplicates.length === 0) return
  await tx.query(`
    UPDATE ledger.webhook_deliveries d
    SET duplicates = d.duplicates + again.times, last_position = again.position
    FROM (SELECT call_id, count(*) AS times, max(position) AS position
          FROM unnest($1::text[], $2::bigint[]) AS x (call_id, position) GROUP BY call_id) again
    WHERE d.call_id = again.call_id AND d.type = 'call.completed'`,
  [duplicates.map(({ call_id }) => call_id), duplicates.map(({ position }) => position)])
}
