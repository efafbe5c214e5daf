// Tells the operator's hook what users are told: one POST a notice, signed as webhooks are.
import type { Pool } from 'pg'
import type { Notice } from '../../../src/features/webhooks/model.js'
import { noticeOf } from '../../deliveries/notices.js'
import { requestHeaders } from '../../deliveries/request-headers.js'
import type { Poster } from '../../deliver/post.js'
import { signedHeaders } from '../../deliver/sign.js'

export interface AlertOptions {
  pool: Pool
  poster: Poster
  url: string
  /** `whsec_…` */
  secret: string
  version: string
  signal: AbortSignal
  log: { warn (details: object, message: string): void }
}

interface DueNotice { notice: Notice & { user_id: string }, attempt: number, now: Date }

const atOnce = 10
/** Shorter than a lease is held for a pass. */
const longestMs = 30_000
const timeoutMs = 5_000
const firstWaitSeconds = 5
const longestWaitSeconds = 600
/** A hook that is set up, or repaired, later than that is not told of what is long past. */
const longestLife = '1 day'

/** Sends those that are due, for half a minute at most. @returns how many the hook took */
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
      ORDER BY alert_due_at LIMIT ${atOnce} FOR UPDATE SKIP LOCKED
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
