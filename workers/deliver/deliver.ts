// Job -> signed, guarded POST -> outcome.
import { randomUUID } from 'node:crypto'
import {
  type Circumstances, type Outcome, outcomeOf, pauseOf, type Result, verdictOf
} from '../../src/features/webhooks/outcome.js'
import type { Attempt, Finish, Job, Sent, Trigger } from '../deliveries/attempts/attempt.js'
import { finishOnDemandAttempt, startOnDemandAttempt } from '../deliveries/attempts/on-demand.js'
import type { FreshBodies } from '../deliveries/fresh-bodies.js'
import type { Enqueuer } from '../queue/enqueue.js'
import { longestBodyBytes } from '../dispatch/payload.js'
import { bodyBudget, BodyBudget } from './body-budget.js'
import { followOutcome, type Made } from './follow-outcome.js'
import { logRarely } from '../queue/back-ends/log-rarely.js'
import { openRecorder, type Recorder } from './recorder.js'
import { send, type SendOptions } from './send.js'

export interface DelivererOptions extends SendOptions {
  enqueuer: Enqueuer
  /** Waits before each attempt, in milliseconds. */
  schedule: readonly number[]
  /** Told of each attempt whose outcome counts. */
  onAttempt?: ((attempt: EndedAttempt) => void) | undefined
  log: { info (details: object, message: string): void, warn (details: object, message: string): void }
  /** Bodies that need not be read. */
  fresh?: FreshBodies | undefined
  /** Of the bodies of attempts in flight; 64 MiB when absent. */
  bodyBytes?: number | undefined
}

/** An attempt, for metrics. `ageMs`: since the row of its delivery was written. */
export interface EndedAttempt { trigger: Trigger, outcome: Outcome, isExhausted: boolean, ageMs: number }

/** Of the pause after an attempt that we could not make: it doubles with every attempt of the delivery. */
const ourFaultMs = { first: 60_000, longest: 3_600_000 }
const mostSkewMs = 30_000

/** The worker of the queue: makes the attempt of a job, if the job is not stale. */
export function deliverer (options: DelivererOptions): (job: Job) => Promise<void> {
  const recorder = openRecorder(options)
  const budget = new BodyBudget(options.bodyBytes ?? bodyBudget)
  const tellSkew = logRarely(options.log, 'the clock of this worker differs from that of Postgres, which signs webhooks')
  return async (job) => {
    const made = await make(job)
    if (!made) return
    const { attempt } = made
    const counted = await record(attempt, made, recorder, options)
    logAttempt(attempt, made.finish, counted, options)
    if (counted) options.onAttempt?.(ended(attempt, made))
    if (counted) await followOutcome(attempt, made, options)
    enqueueNext(attempt, made, recorder, options)
  }

  /** The body is held from before it is read until it is sent: an outcome that is kept holds none. */
  async function make (job: Job): Promise<Made & { attempt: Sent } | undefined> {
    const hold = await budget.acquire(longestBodyBytes)
    try {
      const attempt = await start(job, recorder, options)
      if (!attempt) return undefined
      hold.resize(attempt.body.length)
      const skewMs = Date.now() - attempt.startedAt.getTime()
      if (Math.abs(skewMs) > mostSkewMs) tellSkew(new Error(`this worker is ${Math.round(skewMs / 1_000)} s ahead`))
      const { body, ...sent } = attempt
      return { attempt: sent, ...await makeAttempt({ ...sent, body }, options) }
    } finally {
      hold.release()
    }
  }
}

const ended = ({ trigger, ageMs }: Sent, { finish: { outcome, durationMs }, verdict }: Made): EndedAttempt =>
  ({ trigger, outcome, isExhausted: verdict.status === 'exhausted', ageMs: ageMs + durationMs })

async function start (
  job: Job, { startScheduled }: Recorder, { pool, fresh }: DelivererOptions
): Promise<Attempt | undefined> {
  const token = randomUUID()
  if (job.trigger) return await startOnDemandAttempt(pool, job, job.trigger, token)
  return (await startScheduled({ job, token, body: fresh?.take(job.deliveryId) })).attempt
}

async function makeAttempt (attempt: Attempt, options: DelivererOptions): Promise<Made> {
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  try {
    const result = await send(attempt, options)
    const finish = { outcome: outcomeOf(result), durationMs: durationMs(), ...answerOf(result) }
    const circumstances = circumstancesOf(attempt, options)
    return { finish, verdict: verdictOf(result, circumstances), pause: pauseOf(result, circumstances) }
  } catch (error) {
    return unmade(attempt, error, durationMs(), options)
  }
}

const circumstancesOf = ({ failures, ageMs }: Sent, { schedule }: DelivererOptions): Circumstances =>
  ({ schedule, failures, ageMs, now: Date.now(), random: Math.random() })

function answerOf (result: Result): Pick<Finish, 'statusCode' | 'error' | 'excerpt' | 'truncated'> {
  if (result.kind === 'failure') return { statusCode: null, error: result.message, excerpt: null, truncated: false }
  return { statusCode: result.status, error: null, excerpt: result.excerpt, truncated: result.truncated }
}

/** This worker stops, or has a fault of its own: the receiver did not fail, so no failure counts. */
function unmade (attempt: Sent, err: unknown, durationMs: number, { signal, log }: DelivererOptions): Made {
  const isHandedOver = signal.aborted
  const error = isHandedOver
    ? 'handed over while this worker stopped'
    : 'could not be made; the operator sees why in the log'
  if (!isHandedOver) {
    log.warn({ delivery: attempt.deliveryId, attempt: attempt.n, err }, 'webhook attempt could not be made')
  }
  const finish: Finish = { outcome: 'unknown', durationMs, statusCode: null, error, excerpt: null, truncated: false }
  return { finish, verdict: { status: 'retry', inMs: isHandedOver ? 0 : Math.min(ourFaultMs.first * 2 ** (attempt.n - 1), ourFaultMs.longest) } }
}

/** @returns whether the outcome counts: false when the attempt was closed as `unknown` meanwhile */
async function record (
  attempt: Sent, { finish, verdict }: Made, { finishScheduled, persistently }: Recorder, { pool }: DelivererOptions
): Promise<boolean> {
  if (attempt.trigger === 'schedule') return await persistently(() => finishScheduled({ attempt, finish, verdict }))
  const againInMs = verdict.status === 'retry' ? verdict.inMs : 0
  return await persistently(() => finishOnDemandAttempt(pool, attempt, finish, againInMs))
}

function logAttempt (
  { deliveryId, trigger, n }: Sent, { outcome, statusCode, durationMs }: Finish, counted: boolean,
  { log }: DelivererOptions
): void {
  log.info(
    { delivery: deliveryId, trigger, attempt: n, outcome, status: statusCode, ms: durationMs, counted },
    'webhook attempt finished')
}

/** An attempt on demand does not look what else is due. */
function enqueueNext (
  { userId, endpointId, trigger }: Sent, { verdict, pause }: Made, { takeDue }: Recorder, { enqueuer }: DelivererOptions
): void {
  const answered = verdict.status === 'delivered' ? endpointId : undefined
  if (takeDue(userId) || trigger !== 'schedule') enqueuer.enqueueSoon([userId], answered)
  if (pause) enqueuer.enqueueIn(userId, pause.inMs)
  if (verdict.status === 'retry') enqueuer.enqueueIn(userId, verdict.inMs)
}
