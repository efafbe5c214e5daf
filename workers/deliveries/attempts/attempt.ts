// The delivery log as an attempt reads and writes it. Each change is one statement, so that a crash leaves nothing
// half written.
import type { Pool } from 'pg'
import type { Outcome } from '../../../src/features/webhooks/outcome.js'
import { suspendAfter } from '../endpoints.js'
import type { SealedRow } from '../../../src/privacy/sealed-text.js'

/** What starts an attempt: the schedule, a redelivery (`manual`), a test or a probe. Each numbers its own attempts. */
export type Trigger = 'schedule' | OnDemandTrigger
export type OnDemandTrigger = 'manual' | 'test' | 'probe'

/** A job of the queue: starts attempt `n` of a delivery, unless a newer job of it was enqueued. */
export interface Job {
  deliveryId: string
  n: number
  /** Raised at every enqueue; a job with a lower number is stale. */
  jobNumber: number
  /** Absent for an attempt of the schedule. */
  trigger?: OnDemandTrigger
}

/** An attempt that this worker, and no other one, may send. */
export interface Attempt {
  deliveryId: string
  trigger: Trigger
  n: number
  token: string
  userId: string
  endpointId: string
  health: Health
  url: string
  /** The very bytes. A string beside them would take four times as much, for as long as a receiver hangs. */
  body: Buffer
  /** By the clock of Postgres, which every worker shares. */
  startedAt: Date
  /** Failed attempts before this one. */
  failures: number
  /** Milliseconds since the delivery was created. */
  ageMs: number
  /** Encrypted, the current one first. */
  secrets: SealedRow[]
  /** Of the span that appended the event of the call, if that was traced. */
  traceparent?: string | undefined
}

/** What is kept of an attempt when it is sent. */
export type Sent = Omit<Attempt, 'body'>

/** How the endpoint did so far; `overdue` fails for so long that one more failure suspends it. */
export type Health = 'fine' | 'failing' | 'overdue'

/** What is kept of a finished attempt. */
export interface Finish {
  outcome: Outcome
  statusCode: number | null
  durationMs: number
  error: string | null
  excerpt: string | null
  truncated: boolean
}

/** What `startedColumns` and the started row hold. */
export interface AttemptRow {
  user_id: string
  endpoint_id: string
  body: string
  failure_count: number
  age_ms: number
  now: Date
  url: string
  health: Health
  secrets: SealedRow[] | null
  traceparent: string | null
}

/**
 * Columns of an attempt that has just started: the address and health of its endpoint `e`, and the secrets that sign
 * now. `started` names the row with its user and assistant. The secrets of the user sign unless the assistant has one
 * of its own that needs them beside it no more.
 */
export const startedColumns = (started: string) => `
  clock_timestamp() AS now,
  coalesce(e.url, '') AS url,
  CASE
    WHEN e.failing_since <= now() - interval '${suspendAfter}' THEN 'overdue'
    WHEN e.failing_since IS NULL AND coalesce(e.failures_in_row, 0) = 0 THEN 'fine'
    ELSE 'failing'
  END AS health,
  (SELECT json_agg(json_build_object('key_id', s.key_id, 'sealed', encode(s.sealed, 'base64')) ORDER BY s.id DESC)
   FROM ledger.webhook_secrets s
   WHERE s.user_id = ${started}.user_id AND (s.expires_at IS NULL OR s.expires_at > now())
     AND (s.assistant_id = ${started}.assistant_id OR (s.assistant_id IS NULL AND NOT EXISTS (
       SELECT FROM ledger.webhook_secrets own
       WHERE own.user_id = s.user_id AND own.assistant_id = ${started}.assistant_id AND own.expires_at IS NULL
         AND coalesce(own.beside_user_until, '-infinity') <= now())))) AS secrets`

/** Milliseconds since the delivery in `row` was created. */
export const ageMs = (row: string) => `(extract(epoch FROM clock_timestamp() - ${row}.created_at) * 1000)::float8`

export function toAttempt (row: AttemptRow, job: Pick<Attempt, 'deliveryId' | 'trigger' | 'n' | 'token'>): Attempt {
  return {
    ...job,
    userId: row.user_id,
    endpointId: row.endpoint_id,
    health: row.health,
    url: row.url,
    body: Buffer.from(row.body),
    startedAt: row.now,
    failures: row.failure_count,
    ageMs: row.age_ms,
    secrets: row.secrets ?? [],
    traceparent: row.traceparent ?? undefined
  }
}

/** Waits until no other transaction locks the row of a delivery. @returns false when there is no such row */
export async function untilUnlocked (pool: Pool, deliveryId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM ledger.webhook_deliveries WHERE id = $1 FOR NO KEY UPDATE', [deliveryId])
  return rowCount === 1
}
