// The delivery log, statement by statement, on a real Postgres. A claimed attempt counts as sent here.
import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Test } from 'tap'
import { inTransaction } from '../../../src/postgres/transaction.js'
import { dispatcherCheckpoint } from '../../../src/recovery/same-log.js'
import { judge, outcomeOf, type Result } from '../../../src/features/webhooks/outcome.js'
import { claim, type Attempt, type Claiming } from '../../../workers/deliveries/claim.js'
import { recordOutcomes, type Ended, type Recorded } from '../../../workers/deliveries/outcome.js'
import { askForAttempt } from '../../../workers/deliveries/pending.js'
import { changeWebhooks, endInterruption, type WebhookChange } from '../../../workers/deliveries/webhooks.js'
import { openSender } from '../../../workers/deliveries/sender.js'
import { enlist } from '../../../workers/deliveries/workers.js'
import { openPoster } from '../../../workers/deliver/post.js'
import { send } from '../../../workers/deliver/send.js'
import { openQueue, type QueueOptions } from '../../../workers/queue/queue.js'
import type { ScratchRedis } from '../back-ends/redis.js'
import { keepingLog, scratchLedger } from '../postgres/ledger.js'
import type { Teardown } from '../teardown.js'

export const schedule = [0, 5_000, 300_000, 18_000_000]

export const answer = (status: number, retryAfter?: string): Result =>
  ({ kind: 'answer', status, retryAfter, excerpt: 'hello', truncated: false })

/** An attempt that has ended after so long. */
export function endedAs (attempt: Attempt, result: Result | 'handed over', durationMs = 10): Ended {
  const kept = { attempt, duration_ms: durationMs, excerpt: 'hello', truncated: false }
  if (result === 'handed over') {
    const judgement = { verdict: { status: 'retry' as const, inMs: 0 }, usesAttempt: false, fails: false }
    return { ...kept, judgement, outcome: 'unknown', status_code: null, error: result }
  }
  const judgement = judge(result, { ...attempt, schedule, now: Date.now(), random: 0.5 })
  const status_code = result.kind === 'answer' ? result.status : null
  return { ...kept, judgement, outcome: outcomeOf(result), status_code, error: null }
}

export type SenderRig = Awaited<ReturnType<typeof senderRig>>

export async function senderRig (t: Teardown) {
  const ledger = await scratchLedger(t)
  return { ...ledger, ...driving(ledger.pool), worker: await enlist(ledger.pool, 'test') }
}

const tables = [
  'webhooks', 'webhook_deliveries', 'webhook_due', 'webhook_attempts', 'webhook_workers', 'webhook_notices', 'webhook_secrets', 'work',
  'dispatch_assistants', 'dispatch_leads', 'dispatch_campaigns', 'dispatch_blacklist', 'parked_events'
]

/** As in a new database, of another name: what a queue has of the former one is not its own. */
export const startOver = (pool: Pool) => pool.query([
  ...tables.map((name) => `DELETE FROM ledger.${name}`),
  `UPDATE ${dispatcherCheckpoint} SET position = 0`,
  'UPDATE ledger.this_database SET id = gen_random_uuid(), skip_until = 0, reread_until = 0'
].join('; '))

/** A rig for the rules of a file. Each `rule`, or what calls `begin`, begins with an empty delivery log. */
export async function ruleRig (t: Test) {
  const r = await senderRig(t)
  async function begin () {
    await startOver(r.pool)
    r.worker = await enlist(r.pool, 'test')
    return r
  }
  function rule (name: string, check: (t: Test) => Promise<void>): void {
    t.test(name, async (t) => {
      await begin()
      await check(t)
    })
  }
  return { r, begin, rule }
}

export const driving = (pool: Pool) => ({
  /** Sets webhooks as their assistants' settings say. */
  change: (...changes: Array<Partial<WebhookChange>>) => inTransaction(pool, (tx) => changeAs(tx, changes)),
  resume: (assistant = 1) => inTransaction(pool, (tx) => endInterruption(tx, String(assistant))),

  /** Adds so many deliveries. @returns their ids */
  async add (count = 1, { assistant = 1, user = '1', to = url } = {}): Promise<string[]> {
    const ids = Array.from({ length: count }, () => randomUUID())
    await pool.query('INSERT INTO ledger.webhooks (assistant_id, user_id, url) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [assistant, user, to])
    await addDeliveries(pool, ids.map((id) => deliveryOf(id, assistant, user)))
    return ids
  },

  claim: (worker: string, assistants: number[] = [1], claiming: Partial<Claiming> = {}) =>
    claim(pool, assistants.map(String), { worker, room: 500, bytes: 2 ** 26, ...claiming }),

  end: (attempts: readonly Attempt[], result: Result | 'handed over', durationMs?: number): Promise<Recorded> =>
    recordOutcomes(pool, attempts.map((attempt) => endedAs(attempt, result, durationMs))),

  ask: (id: string, trigger: 'manual' | 'test' | 'probe' = 'manual') => askForAttempt(pool, id, trigger),

  async rows (table: string, where = 'true') {
    return (await pool.query<Record<string, unknown>>(`SELECT * FROM ledger.${table} WHERE ${where}`)).rows
  },
  /** `due_in` is rounded to five seconds. */
  async delivery (id: string) {
    const { rows: [row] } = await pool.query<Record<string, unknown>>(`
      SELECT d.status, d.reason, d.attempt_count, d.failures,
             5 * round(extract(epoch FROM due.due_at - clock_timestamp()) / 5)::integer AS due_in
      FROM ledger.webhook_deliveries d LEFT JOIN ledger.webhook_due due ON due.delivery_id = d.id AND due.trigger = 'schedule'
      WHERE d.id = $1`, [id])
    return row
  },
  async hook (assistant = 1) {
    const { rows: [row] } = await pool.query<Record<string, unknown>>(
      'SELECT * FROM ledger.webhooks WHERE assistant_id = $1', [assistant])
    return row ?? {}
  },
  notices: async () => (await pool.query<{ type: string, reason: string }>(
    'SELECT type, reason FROM ledger.webhook_notices ORDER BY id')).rows.map(({ type, reason }) => `${type} ${reason}`)
})

export const url = 'https://hooks.example.com/1'

export const changeAs = (tx: PoolClient, changes: Array<Partial<WebhookChange>>) =>
  changeWebhooks(tx, changes.map((change) =>
    ({ assistant_id: 1, user_id: '1', url, is_on: true, switchedOn: false, ...change })))

export const deliveryOf = (id: string, assistant = 1, user = '1') =>
  ({ id, call_id: id, type: 'call.completed', user_id: user, assistant_id: assistant, body: '{}' })

/** Adds deliveries that are due in one statement, as the dispatcher does. */
export const addDeliveries = (pool: Pool, deliveries: ReadonlyArray<ReturnType<typeof deliveryOf>>) => pool.query(`
  WITH added AS (
    INSERT INTO ledger.webhook_deliveries (id, call_id, type, user_id, assistant_id, body, status)
    SELECT *, 'scheduled' FROM json_to_recordset($1) AS given (
      id uuid, call_id text, type text, user_id text, assistant_id bigint, body text)
    ON CONFLICT DO NOTHING RETURNING id, user_id, assistant_id
  )
  INSERT INTO ledger.webhook_due (delivery_id, trigger, assistant_id, user_id, due_at)
  SELECT id, 'schedule', assistant_id, user_id, clock_timestamp() FROM added`, [JSON.stringify(deliveries)])

export interface SendingOptions {
  redis?: Pick<ScratchRedis, 'url'> | undefined
  holder?: string
  waits?: number[]
  timeoutMs?: number
  heartbeatMs?: number
  /** Ranges that may be reached; this machine when absent. */
  allowCidrs?: string[]
  patience?: QueueOptions['patience']
  /** Port of a proxy in front of the queue's server. */
  queuePort?: number | undefined
}

/** A worker with a queue and real requests. `reconcile` runs its periodic work. */
export async function sending (t: Teardown, { pool, databaseUrl }: Pick<SenderRig, 'pool' | 'databaseUrl'>, options: SendingOptions = {}) {
  const { redis, waits = [0, 50, 50], timeoutMs = 30_000, allowCidrs = ['127.0.0.0/8'], patience, queuePort } = options
  const log = keepingLog()
  const through = (url: string) => Object.assign(new URL(url), queuePort && { port: String(queuePort) }).href
  const queue = await openQueue({
    redisUrl: redis && through(redis.url), databaseUrl: through(databaseUrl), pool, log, patience
  })
  const poster = openPoster({ allowCidrs })
  const rules = { allowHttp: true, allowCidrs }
  const keys = { current: Buffer.alloc(32, 1), previous: [] }
  const sender = await openSender({
    pool,
    jobs: queue,
    holder: options.holder ?? 'test',
    schedule: waits,
    send: (attempt, signal) => send(attempt, signal, { pool, poster, keys, timeoutMs, rules, version: '0.0.0' }),
    maySend: () => true,
    log,
    ...(options.heartbeatMs && { heartbeatMs: options.heartbeatMs })
  })
  let stopped: Promise<void> | undefined
  async function stop (graceMs = 1_000): Promise<void> {
    await Promise.all([queue.stopWork(), sender.stop(graceMs)])
    await queue.close()
    await poster.close()
  }
  const stopOnce = (graceMs?: number) => stopped ??= stop(graceMs)
  t.teardown(() => stopOnce())
  return {
    sender,
    queue,
    keys,
    log,
    stop: stopOnce,
    async reconcile () {
      for (const { run } of sender.tasks) await run(new AbortController().signal)
    }
  }
}
