// Job -> signed, guarded POST -> outcome.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { inTransaction } from '../../src/postgres/transaction.js'
import { finishOnDemandAttempt, startOnDemandAttempt } from '../deliveries/on-demand-attempts.js'
import type { Job, Attempt, Finish } from '../deliveries/attempts.js'
import { recordHealth, suspend } from '../deliveries/endpoints.js'
import type { Enqueuer } from '../queue/enqueue.js'
import { finishAttempt, finishAttempts, type Finished } from '../deliveries/finish-attempts.js'
import { webhookUrlProblem, type UrlRules } from './guard.js'
import { judge, outcomeOf, type Result, type Verdict } from './outcome.js'
import type { Poster } from './post.js'
import { currentSecret, unseal, type SecretKeys } from './secrets.js'
import { batcher } from './batcher.js'
import { signedHeaders } from './sign.js'
import { startAttempt, startAttempts, type Start, type Started } from '../deliveries/start-attempts.js'

export interface DelivererOptions {
  pool: Pool
  poster: Poster
  enqueuer: Enqueuer
  keys: SecretKeys
  /** Waits before each attempt, in milliseconds. */
  schedule: readonly number[]
  timeoutMs: number
  rules: UrlRules
  version: string
  /** Aborted when running attempts must be handed over. */
  signal: AbortSignal
  log: { info (details: object, message: string): void, warn (details: object, message: string): void }
}

const ourFaultMs = 60_000
/** Attempts that start, or finish, in one statement. */
const batchLimit = 100

/** The worker of the queue: makes the attempt that a job points to, if it is still to be made. */
export function deliverer (options: DelivererOptions): (job: Job) => Promise<void> {
  const { pool, enqueuer, log } = options
  const { start, finish: record } = batchedWrites(options)
  return async (job) => {
    const token = randomUUID()
    const attempt = job.trigger ? await startOnDemandAttempt(pool, job, job.trigger, token) : (await start({ job, token })).attempt
    if (!attempt) return
    const { finish, verdict } = await makeAttempt(attempt, options)
    const counted = await persistently(() => job.trigger
      ? finishOnDemandAttempt(pool, attempt, finish, verdict.status === 'retry' ? verdict.inMs : 0)
      : record({ attempt, finish, verdict }))
    log.info({ delivery: attempt.deliveryId, trigger: attempt.trigger, attempt: attempt.n, outcome: finish.outcome, status: finish.statusCode, ms: finish.durationMs, counted }, 'webhook attempt finished')
    if (counted) await follow(attempt, finish, verdict, options)
    enqueuer.enqueueSoon([attempt.userId])
    if (verdict.status === 'retry') enqueuer.enqueueIn(attempt.userId, verdict.inMs)
  }
}

/** Writes of attempts that start, or finish, at the same time are one statement. */
function batchedWrites ({ pool, log }: DelivererOptions) {
  const onError = (error: unknown) => log.warn({ err: error }, 'a batch of attempts could not be written, each attempt is now written alone')
  return {
    start: batcher<Start, Started>({
      runBatch: (starts) => startAttempts(pool, starts),
      runOne: async ({ job, token }) => ({ attempt: await startAttempt(pool, job, token) }),
      onError,
      limit: batchLimit
    }),
    finish: batcher<Finished, boolean>({
      runBatch: (finished) => finishAttempts(pool, finished),
      runOne: ({ attempt, finish, verdict }) => finishAttempt(pool, attempt, finish, verdict),
      onError,
      limit: batchLimit
    })
  }
}

async function makeAttempt (attempt: Attempt, options: DelivererOptions): Promise<{ finish: Finish, verdict: Verdict }> {
  const from = performance.now()
  const durationMs = () => Math.round(performance.now() - from)
  try {
    const result = await send(attempt, options)
    const finish = { outcome: outcomeOf(result), durationMs: durationMs(), ...details(result) }
    return { finish, verdict: judge(result, { schedule: options.schedule, failures: attempt.failures, now: Date.now(), random: Math.random() }) }
  } catch (error) {
    // Handed over or failed on our side: not the receiver's fault, so no failure is counted.
    const isHandedOver = options.signal.aborted
    if (!isHandedOver) options.log.warn({ delivery: attempt.deliveryId, attempt: attempt.n, err: error }, 'webhook attempt could not be made')
    const why = isHandedOver ? 'handed over while this worker stopped' : 'could not be made; the operator sees why in the log'
    const finish: Finish = { outcome: 'unknown', durationMs: durationMs(), statusCode: null, error: why, excerpt: null, truncated: false }
    return { finish, verdict: { status: 'retry', inMs: isHandedOver ? 0 : ourFaultMs } }
  }
}

async function send (attempt: Attempt, options: DelivererOptions): Promise<Result> {
  const problem = webhookUrlProblem(attempt.url, options.rules)
  if (problem !== undefined) return { kind: 'failure', stage: 'blocked', message: `the webhook URL ${problem}` }
  const secrets = attempt.secrets.map((row) => unseal(options.keys, attempt.userId, row))
  if (secrets.length === 0) secrets.push(await currentSecret(options.pool, options.keys, attempt.userId))
  const signature = signedHeaders({ id: attempt.deliveryId, attempt: attempt.n, body: attempt.body, at: new Date(), secrets })
  return options.poster.post({
    url: attempt.url,
    headers: { 'content-type': 'application/json', 'user-agent': `Ringledger/${options.version}`, ...signature },
    body: Buffer.from(attempt.body),
    timeoutMs: options.timeoutMs,
    signal: options.signal
  })
}

function details (result: Result): Pick<Finish, 'statusCode' | 'error' | 'excerpt' | 'truncated'> {
  if (result.kind === 'failure') return { statusCode: null, error: result.message, excerpt: null, truncated: false }
  return { statusCode: result.status, error: null, excerpt: result.excerpt, truncated: result.truncated }
}

/**
 * What an outcome means for the endpoint; each may be lost in a crash and is found again by the next attempt. Of an
 * attempt that was asked for only a success means anything: whoever tries things out must not do harm by it.
 */
async function follow ({ deliveryId, trigger, endpointId, health }: Attempt, { outcome }: Finish, { status }: Verdict, { pool, log }: DelivererOptions): Promise<void> {
  if (outcome === 'delivered' && health !== 'fine') await recordHealth(pool, endpointId, true)
  if (outcome === 'delivered' || outcome === 'unknown' || trigger !== 'schedule') return
  if (health === 'fine') await recordHealth(pool, endpointId, false)
  if (status !== 'cancelled' && health !== 'overdue') return
  const reason = status === 'cancelled' ? 'gone' : 'failing'
  const isNew = await inTransaction(pool, (tx) => suspend(tx, endpointId, reason))
  if (isNew) log.warn({ delivery: deliveryId, endpoint: endpointId, reason }, 'an endpoint is suspended: it answered 410, or only failed for days')
}

/** A request that was sent must be recorded, also when Postgres restarts at this moment: tries for half a minute. */
async function persistently<Answer> (write: () => Promise<Answer>): Promise<Answer> {
  for (let pauseMs = 100; ; pauseMs *= 2) {
    try {
      return await write()
    } catch (error) {
      if (pauseMs > 15_000) throw error
      await delay(pauseMs)
    }
  }
}
