// What a worker does now and then for all users: recoveries, months, probes of suspended endpoints, alerts.
import type { Pool } from 'pg'
import type { Streams } from '../../src/log/event-log.js'
import { keepMonths } from '../deliveries/attempts/months.js'
import { openPoster, type Poster } from '../deliver/post.js'
import { hasRows, type Periodic } from '../periodic.js'
import { continueAudit } from './audit.js'
import { continueRecoveries } from './recoveries.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { insertOnDemandAttempt } from '../deliveries/attempts/on-demand.js'
import { notifyDue } from '../deliveries/due-channel.js'
import { mustMove } from '../deliveries/moves/batch-sql.js'
import type { Notice } from '../../src/features/webhooks/model.js'
import { noticeOf } from '../deliveries/notices.js'
import { requestHeaders } from '../deliveries/request-headers.js'
import { signedHeaders } from '../deliver/sign.js'

/** Where operators are told what users are told. */
export interface AlertHook {
  url: string
  /** `whsec_…` */
  secret: string
}

export interface TaskOptions {
  pool: Pool
  streams: Pick<Streams, 'read' | 'followStored' | 'head'>
  /** There is none unless operators want to be told. */
  alert?: AlertHook | undefined
  /** False in a restored database: what it has to tell may be told already. */
  maySend (): boolean
  /** How long attempts are kept. */
  retentionDays: number
  version: string
  signal: AbortSignal
  log: { warn (details: object, message: string): void }
}

/** As others look for work, so that they look in one statement. */
const soonMs = 2_000
const rarelyMs = 60_000
const hourlyMs = 3_600_000

export function openTasks (
  { alert, maySend, retentionDays, ...options }: TaskOptions
): { tasks: Periodic[], close (): Promise<void> } {
  const { pool, streams } = options
  const recover = async () => { if (await hasRows(pool, 'webhook_recoveries')) await continueRecoveries(pool, streams) }
  const tasks: Periodic[] = [
    { name: 'recoveries', everyMs: soonMs, run: recover },
    { name: 'months', everyMs: hourlyMs, run: () => keepMonths(pool, retentionDays) },
    { name: 'probes', everyMs: rarelyMs, run: () => probeSuspended(pool) },
    { name: 'identity', everyMs: rarelyMs, run: () => continueAudit(options) }
  ]
  if (!alert) return { tasks, close: async () => {} }
  const poster = openPoster({ allowCidrs: ['0.0.0.0/0', '::/0'] }) // operators may reach what is theirs
  const run = async () => { if (maySend()) await sendAlerts({ ...options, ...alert, poster }) }
  return { tasks: [...tasks, { name: 'alerts', everyMs: soonMs, run }], close: () => poster.close() }
}

const probeEvery = '1 day'
const probesAtOnce = 100

interface Chosen { endpoint_id: string, user_id: string, id: string, assistant_id: string }

/**
 * Attempts one held delivery of each endpoint that was suspended for failing, once a day. A success resumes the
 * endpoint, a failure changes nothing. @returns how many
 */
export async function probeSuspended (pool: Pool): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<Chosen>(`
      WITH due AS (
        SELECT id, user_id FROM ledger.webhook_endpoints
        WHERE suspended_reason = 'failing'
          AND greatest(suspended_at, probed_at) < now() - interval '${probeEvery}'
        ORDER BY greatest(suspended_at, probed_at) LIMIT ${probesAtOnce} FOR UPDATE SKIP LOCKED
      ), probed AS (
        UPDATE ledger.webhook_endpoints e SET probed_at = now() FROM due WHERE e.id = due.id
      )
      SELECT due.id AS endpoint_id, due.user_id, held.id, held.assistant_id FROM due CROSS JOIN LATERAL (
        SELECT id, assistant_id FROM ledger.webhook_deliveries d
        WHERE endpoint_id = due.id AND status = 'held' AND reason = 'endpoint_suspended' AND body IS NOT NULL
          AND assistant_id IS NOT NULL AND NOT ${mustMove('d.assistant_id', 'd.endpoint_id')}
        ORDER BY held_at LIMIT 1) held`)
    for (const { endpoint_id: endpointId, user_id: userId, id: deliveryId, assistant_id: assistantId } of rows) {
      const attempt = { deliveryId, trigger: 'probe' as const, userId, assistantId: Number(assistantId), endpointId }
      await insertOnDemandAttempt(tx, attempt)
      await notifyDue(tx, userId)
    }
    return rows.length
  })
}

export type AlertOptions = AlertHook & Pick<TaskOptions, 'pool' | 'version' | 'signal' | 'log'> & { poster: Poster }

interface DueNotice { notice: Notice & { user_id: string }, attempt: number, now: Date }

const alertsAtOnce = 10
/** Shorter than a lease is held for a pass. */
const longestMs = 30_000
const timeoutMs = 5_000
const firstWaitSeconds = 5
const longestWaitSeconds = 600
/** A hook that is set up, or repaired, later than that is not told of what is long past. */
const longestLife = '1 day'

/**
 * Tells the operator's hook what users are told: one POST a notice, signed as webhooks are; for half a minute at most.
 * @returns how many the hook took
 */
export async function sendAlerts (options: AlertOptions): Promise<number> {
  const { pool } = options
  await forgetOld(pool)
  const until = performance.now() + longestMs
  let taken = 0
  while (performance.now() < until) {
    const due = await claimDue(pool)
    if (due.length === 0) break
    const answers = await Promise.all(due.map((each) => post(each, options)))
    const told = due.filter((_, index) => answers[index] === undefined)
    if (told.length > 0) await forget(pool, told.map(({ notice }) => notice.id))
    taken += told.length
    const problem = answers.find((answer) => answer !== undefined)
    if (problem === undefined) continue
    options.log.warn({ problem }, 'the hook of ALERT_WEBHOOK_URL did not take a notice, it is tried again')
    break
  }
  return taken
}

/** Each is claimed until its next attempt: a process that dies meanwhile leaves it to that. */
async function claimDue (pool: Pool): Promise<DueNotice[]> {
  const { rows } = await pool.query<DueNotice>(`
    WITH due AS (
      SELECT id FROM ledger.webhook_notices
      WHERE alert_due_at <= now()
      ORDER BY alert_due_at LIMIT ${alertsAtOnce} FOR UPDATE SKIP LOCKED
    )
    UPDATE ledger.webhook_notices n
    SET alert_attempts = alert_attempts + 1, alert_due_at = now() + interval '1 s' *
      least(${longestWaitSeconds}, ${firstWaitSeconds} * 2 ^ least(alert_attempts, 10))
    FROM due WHERE n.id = due.id
    RETURNING json_build_object(${noticeOf('n')}, 'user_id', n.user_id) AS notice, alert_attempts AS attempt, now() AS now`)
  return rows
}

async function forgetOld (pool: Pool): Promise<void> {
  await pool.query(`
    UPDATE ledger.webhook_notices SET alert_due_at = NULL
    WHERE alert_due_at <= now() AND at <= now() - interval '${longestLife}'`)
}

async function forget (pool: Pool, ids: number[]): Promise<void> {
  await pool.query('UPDATE ledger.webhook_notices SET alert_due_at = NULL WHERE id = ANY($1::bigint[])', [ids])
}

/** @returns what went wrong, or nothing */
async function post ({ notice, attempt, now }: DueNotice, options: AlertOptions): Promise<string | undefined> {
  const { poster, url, secret, version, signal } = options
  const body = Buffer.from(JSON.stringify(notice))
  const numbered = { id: `notice-${notice.id}`, attempt, at: now }
  const headers = { ...requestHeaders(numbered, version), ...signedHeaders({ ...numbered, body, secrets: [secret] }) }
  const result = await poster.post({ url, headers, body, timeoutMs, signal })
  if (result.kind === 'failure') return result.message
  return result.status >= 200 && result.status < 300 ? undefined : `it answered ${result.status}`
}
