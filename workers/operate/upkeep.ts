// Periodic tasks for all users: months, retention, probes of suspended webhooks, the audit, alerts.
import type { Pool } from 'pg'
import type { Streams } from '../../src/log/event-log.js'
import { keepMonths, removeExpired } from '../deliveries/retention.js'
import { openPoster, type Poster } from '../deliver/post.js'
import type { Periodic } from '../periodic.js'
import { continueAudit } from './audit.js'
import { inTransaction } from '../../src/postgres/transaction.js'
import { notifyDue } from '../deliveries/webhooks.js'
import { askForAttempt } from '../deliveries/pending.js'
import type { Notice } from '../../src/features/webhooks/model.js'
import { noticeOf } from '../deliveries/read.js'
import { signedHeaders } from '../deliver/sign.js'

/** The operators' hook, which gets the notices of all users. */
export interface AlertHook {
  url: string
  /** `whsec_…` */
  secret: string
}

interface TaskOptions {
  pool: Pool
  streams: Pick<Streams, 'read' | 'followStored' | 'head'>
  /** Absent unless operators want alerts. */
  alert?: AlertHook | undefined
  /** How long payloads and attempts are kept. */
  retentionDays: number
  reconcileEveryMs?: number | undefined
  version: string
  signal: AbortSignal
  log: Record<'info' | 'warn', (details: object, message: string) => void>
}

const soonMs = 2_000
const usuallyMs = 10_000
const rarelyMs = 60_000
const hourlyMs = 3_600_000

/** `sending` must not run in a restored database, which may have sent the same before. */
export function openTasks ({ alert, retentionDays, reconcileEveryMs: everyMs = usuallyMs, ...options }: TaskOptions) {
  const { pool, log } = options
  const poster = alert && openPoster({ allowCidrs: ['0.0.0.0/0', '::/0'] }) // operators may reach what is theirs
  const sending: Periodic[] = [{ name: 'probes', everyMs: rarelyMs, run: () => probeSuspended(pool) }]
  if (poster) sending.push({ name: 'alerts', everyMs: soonMs, run: () => sendAlerts({ ...options, ...alert, poster }) })
  const always: Periodic[] = [
    { name: 'months', everyMs: hourlyMs, run: () => keepMonths(pool, retentionDays) },
    { name: 'identity', everyMs: rarelyMs, run: () => continueAudit(options) },
    {
      name: 'retention',
      everyMs,
      async run () {
        const removed = await removeExpired(pool, retentionDays)
        if (removed.payloads > 0) log.info({ ...removed }, 'removed what is no longer kept')
      }
    }
  ]
  return { sending, always, close: async () => { await poster?.close() } }
}

const probeEvery = '1 day'
const probesAtOnce = 100

/**
 * Attempts one held delivery of each webhook that was suspended for failing, once a day: the one whose next attempt
 * would come last. A success resumes the webhook, a failure changes nothing. @returns how many
 */
export async function probeSuspended (pool: Pool): Promise<number> {
  return await inTransaction(pool, async (tx) => {
    const { rows } = await tx.query<{ id: string, assistant_id: string }>(`
      WITH due AS MATERIALIZED (
        SELECT w.assistant_id, held.delivery_id FROM ledger.webhooks w CROSS JOIN LATERAL (
          SELECT delivery_id FROM ledger.webhook_due d
          WHERE d.assistant_id = w.assistant_id AND worker IS NULL AND crashes < 2 AND trigger = 'schedule'
          ORDER BY due_at DESC LIMIT 1) held
        WHERE suspended_at < now() - interval '${probeEvery}' AND suspended_reason = 'failing' AND off_since IS NULL
          AND coalesce(probed_at < now() - interval '${probeEvery}', true)
        LIMIT ${probesAtOnce} FOR NO KEY UPDATE OF w SKIP LOCKED
      )
      UPDATE ledger.webhooks w SET probed_at = now() FROM due WHERE w.assistant_id = due.assistant_id
      RETURNING due.delivery_id AS id, w.assistant_id::text`)
    for (const { id } of rows) await askForAttempt(tx, id, 'probe')
    await notifyDue(tx, ...rows.map(({ assistant_id }) => assistant_id))
    return rows.length
  })
}

type AlertOptions = AlertHook & Pick<TaskOptions, 'pool' | 'version' | 'signal' | 'log'> & { poster: Poster }

interface DueNotice { notice: Notice & { user_id: string }, attempt: number, now: Date }

const alertsAtOnce = 10
/** Shorter than the longest pass of a periodic task. */
const longestMs = 30_000
const timeoutMs = 5_000
const firstWaitSeconds = 5
const longestWaitSeconds = 600
/** Older notices are dropped: a hook that is set up or repaired late gets none that are long past. */
const longestLife = '1 day'

/**
 * Sends the notices of users to the operators' hook: one POST each, signed like webhooks, for half a minute at most.
 * @returns how many the hook took
 */
export async function sendAlerts (options: AlertOptions): Promise<number> {
  const { pool } = options
  await pool.query(`
    UPDATE ledger.webhook_notices SET alert_due_at = NULL
    WHERE alert_due_at <= now() AND at <= now() - interval '${longestLife}'`)
  const until = performance.now() + longestMs
  let taken = 0
  while (performance.now() < until) {
    const due = await claimDue(pool)
    if (due.length === 0) break
    const answers = await Promise.all(due.map((each) => post(each, options)))
    const told = due.flatMap(({ notice }, index) => answers[index] === undefined ? notice.id : [])
    await pool.query('UPDATE ledger.webhook_notices SET alert_due_at = NULL WHERE id = ANY($1::bigint[])', [told])
    taken += told.length
    const problem = answers.find((answer) => answer !== undefined)
    if (problem === undefined) continue
    options.log.warn({ problem }, 'the hook of ALERT_WEBHOOK_URL did not take a notice, it is tried again')
    break
  }
  return taken
}

/** Claims each until its next attempt, which is made even if this process dies meanwhile. */
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

/** @returns what went wrong, or nothing */
async function post ({ notice, attempt, now }: DueNotice, options: AlertOptions): Promise<string | undefined> {
  const { poster, url, secret, version, signal } = options
  const body = Buffer.from(JSON.stringify(notice))
  const headers = signedHeaders({ id: `notice-${notice.id}`, attempt, at: now }, version, body, [secret])
  const result = await poster.post({ url, headers, body, timeoutMs, signal })
  if (result.kind === 'failure') return result.message
  return result.status >= 200 && result.status < 300 ? undefined : `it answered ${result.status}`
}
