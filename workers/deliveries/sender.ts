// A worker of the delivery log. A job names an assistant; the worker claims its due attempts, sends them and records
// their outcomes. Jobs are short: attempts go on after their job has ended.
import type { Pool } from 'pg'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { judge, outcomeOf, type Result } from '../../src/features/webhooks/outcome.js'
import { batcher } from '../../src/postgres/batcher.js'
import { isAboutData } from '../../src/postgres/problems.js'
import { endsWithin } from '../../src/timing.js'
import type { Periodic } from '../periodic.js'
import { logRarely } from '../queue/back-end.js'
import type { JobQueue } from '../queue/queue.js'
import { claim, type Attempt, type Claim, type Claiming } from './claim.js'
import { closeLost, recordOutcomes, type Ended, type Recorded, type NewNotice } from './outcome.js'
import { cancelHeld } from './pending.js'
import { findAgain, findWaiting } from './reconcile.js'
import { continueHastening } from './webhooks.js'
import { dismiss, enlist, heartbeat, heartbeatMs, removeSilent } from './workers.js'

export interface SenderOptions {
  pool: Pool
  /** Wakes workers for assistants. */
  jobs: JobQueue
  holder: string
  /** Waits before each attempt, in milliseconds. */
  schedule: readonly number[]
  /** Sets `header_names` of the attempt. @throws if `signal` is aborted, or this process has a fault */
  send (attempt: Attempt, signal: AbortSignal): Promise<Result>
  /** While this is false, the worker claims nothing. */
  maySend (): boolean
  /** Called for each attempt whose outcome counts. */
  onAttempt?: ((ended: Ended) => void) | undefined
  /** Called with the number of deliveries that get no further attempt. */
  onExhausted?: ((count: number) => void) | undefined
  log: { info (details: object, message: string): void, warn (details: object, message: string): void }
  heartbeatMs?: number
  reconcileEveryMs?: number | undefined
}

/** Concurrent attempts: enough for forty users whose receivers all hang. One claim takes only a part of them. */
const room = { ofAll: 2_000, ofClaim: 250, bytes: 64 * 2 ** 20, largestBody: 256 * 2 ** 10 }
const jobsAtOnce = 50
/** A worker that had an assistant's job serves it for so long without another job, while it runs few attempts. */
const [warmMs, mostWarm, fewRunning] = [30_000, 10_000, 100]
/** A bulk of 500 jobs takes tens of milliseconds, in which nothing else runs. */
const [addTogether, claimTogether, recordTogether] = [500, 100, 200]
const busyMs = 50
const mostSkewMs = 30_000
/** The reconciler takes care of longer waits. */
const longestTimerMs = 75_000
const timerMarginMs = 5
/** Backoff after an attempt that we could not make; it doubles each time. */
const ourFaultMs = { first: 60_000, longest: 3_600_000 }
/** The queue ignores an assistant that has a job. An outcome finds what came meanwhile, or a look after this time. */
const slowMs = 1_000
const [firstPauseMs, longestPauseMs, refusedForMs, lastWriteMs] = [50, 1_000, 30_000, 2_000]

/** Begins an incarnation, and takes jobs. */
export async function openSender (options: SenderOptions): Promise<Sender> {
  const sender = new Sender(options)
  await sender.begin()
  return sender
}

class Sender {
  #worker = ''
  /** Aborted when this worker has lost its running attempts, or must hand them over. */
  #incarnation = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #bytes = 0
  #isStopped = false
  /** This incarnation may hold attempts unknowingly: a claim got no answer, or an outcome could not be written. */
  #isInDoubt = false
  /** Incarnations that only finish what they have. */
  readonly #former = new Map<string, AbortController>()
  #suspecting: Promise<void> | undefined
  /** The workers that existed when lost attempts were closed last. */
  #lookedAt = ''
  readonly #active = new Set<string>()
  readonly #again = new Set<string>()
  /** Assistants that this worker still serves without another job. */
  readonly #warm = new LRUCache<string, true>({ max: mostWarm, ttl: warmMs })
  /** The last wait of deliveries that this process could not send, in milliseconds. */
  readonly #faults = new LRUCache<string, number>({ max: 10_000 })
  /** Assistants whose claims found nothing. */
  readonly #empty = new Set<string>()
  #isPaused = false
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #beating: NodeJS.Timeout
  /** Resolves once the queue has taken the jobs that were added last. */
  #adding: Promise<void> = Promise.resolve()
  readonly #add = together(async (assistants) => {
    await this.options.jobs.add([...new Set(assistants)])
      .catch((err: unknown) => this.options.log.warn({ err }, 'due webhooks could not be queued; the reconciler will'))
  }, addTogether)

  readonly #claim = together((assistants) => this.#claimOf([...new Set(assistants)]), claimTogether)
  readonly #lookAgain = together(async (assistants) => {
    this.wake(await findAgain(this.options.pool, assistants))
  }, claimTogether)

  readonly #record = batcher<Ended, boolean>({
    runBatch: async (ended) => {
      const recorded = await recordOutcomes(this.options.pool, ended)
      this.#follow(recorded)
      return ended.map((each) => recorded.kept.includes(each))
    },
    isOfOne: isAboutData,
    onError: (err) => this.options.log.warn({ err }, 'outcomes of webhooks could not be written, they are kept'),
    limit: recordTogether
  })

  readonly #tellSkew: (error: Error) => void

  constructor (private readonly options: SenderOptions) {
    this.#tellSkew = logRarely(options.log, 'the clock of this worker differs from that of Postgres, which signs webhooks')
    this.#beating = setInterval(() => void this.#beat().catch(() => {}), options.heartbeatMs ?? heartbeatMs)
  }

  async begin (): Promise<void> {
    this.#worker = await enlist(this.options.pool, this.options.holder)
    this.options.jobs.work((id) => this.#take(id), jobsAtOnce, (id) => this.#free(id))
  }

  /** Wakes workers for these assistants soon; never throws. */
  wake (assistants: Iterable<string>): void {
    if (this.#isStopped) return
    for (const id of assistants) {
      if (this.#active.has(id)) this.#again.add(id)
      // It had the assistant's job a moment ago and has little to do: no other job. The reconciler repeats it.
      else if (this.#running.size < fewRunning && this.#warm.has(id)) this.#claim(id).catch(() => {})
      else this.#adding = this.#add(id)
    }
  }

  #wakeIn (assistantId: string, ms: number): void {
    if (ms > longestTimerMs || this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.wake([assistantId])
    }, ms + timerMarginMs)
    this.#timers.add(timer)
  }

  async #take (assistantId: string): Promise<void> {
    this.#active.add(assistantId)
    await this.#claim(assistantId)
  }

  /** The queue ignored whatever was added while the job existed, so this looks again. */
  #free (assistantId: string): void {
    this.#active.delete(assistantId)
    this.#warm.set(assistantId, true)
    const isEmpty = this.#empty.delete(assistantId)
    if (this.#again.delete(assistantId)) this.wake([assistantId])
    else if (isEmpty) void this.#lookAgain(assistantId).catch(() => {}) // the reconciler does
  }

  async #claimOf (assistants: string[]): Promise<void> {
    if (this.#isStopped || !this.options.maySend()) return
    if (this.#isInDoubt) await this.#beginAnew()
    const most = Math.min(room.ofClaim, room.ofAll - this.#running.size)
    const bytes = room.bytes - this.#bytes
    if (most <= 0 || bytes < room.largestBody) return this.#pauseWith(assistants)
    const claimed = await this.#claimAs({ worker: this.#worker, room: most, bytes }, assistants)
    const found = [...claimed.attempts, ...claimed.later].map(({ assistant_id }) => assistant_id)
    const told = new Set([...found, ...claimed.busy, ...claimed.left])
    for (const id of assistants) if (!told.has(id) && this.#active.has(id)) this.#empty.add(id)
    this.#start(claimed)
  }

  async #claimAs (claiming: Claiming, assistants: string[]): Promise<Claim> {
    return await claim(this.options.pool, assistants, claiming).catch((err: unknown) => {
      this.#isInDoubt ||= claiming.worker === this.#worker
      throw err
    })
  }

  /** The former incarnation finishes what it knows of. Then its row goes, and the attempts left over are made again. */
  async #beginAnew (): Promise<void> {
    const { pool, holder } = this.options
    const former = this.#worker
    this.#worker = await enlist(pool, holder)
    this.#isInDoubt = false
    this.#former.set(former, this.#incarnation)
    this.#incarnation = new AbortController()
    void Promise.allSettled([this.#suspecting, ...this.#running]).then(() => dismiss(pool, former))
      .catch(() => {}) // its heartbeat ends anyway
      .finally(() => this.#former.delete(former))
  }

  /** Takes no jobs until an attempt has ended, then adds these again. */
  #pauseWith (assistants: string[]): void {
    if (!this.#isPaused) this.options.jobs.pause()
    this.#isPaused = true
    void Promise.race(this.#running).then(() => {
      if (this.#isPaused) this.options.jobs.resume()
      this.#isPaused = false
      this.wake(assistants)
    })
  }

  #start ({ attempts, busy, left, later }: Claim): void {
    for (const attempt of attempts) void this.#run(attempt)
    for (const id of busy) this.#wakeIn(id, busyMs)
    if (left.length > 0) this.wake(left)
    for (const { assistant_id, inMs } of later) this.#wakeIn(assistant_id, inMs)
  }

  #run (attempt: Attempt): Promise<void> {
    const running = this.#make(attempt, this.#incarnation.signal).finally(() => this.#running.delete(running))
    this.#running.add(running)
    return running
  }

  async #make (attempt: Attempt, signal: AbortSignal): Promise<void> {
    this.#bytes += attempt.body.length
    const skewMs = Date.now() - attempt.started_at.getTime()
    if (Math.abs(skewMs) > mostSkewMs) this.#tellSkew(new Error(`this worker is ${Math.round(skewMs / 1_000)} s ahead`))
    const { body, ...kept }: Attempt = attempt
    const slow = setTimeout(() => { this.#lookAgain(attempt.assistant_id).catch(() => {}) }, slowMs)
    const ended = await this.#send(attempt, kept, signal).finally(() => {
      clearTimeout(slow)
      kept.header_names = attempt.header_names ?? null
      this.#bytes -= body.length
    })
    const isKept = await this.#persist(ended)
    const { delivery_id: delivery, trigger, n } = attempt
    const { outcome, status_code: status, duration_ms: ms } = ended
    this.options.log.info(
      { delivery, trigger, attempt: n, outcome, status, ms, counted: isKept }, 'webhook attempt finished')
    if (isKept) this.options.onAttempt?.(ended)
    const { judgement: { verdict, pause } } = ended
    if (pause) this.#wakeIn(attempt.assistant_id, pause.inMs)
    else if (verdict.status === 'retry' && verdict.inMs > 0) this.#wakeIn(attempt.assistant_id, verdict.inMs)
  }

  async #send (attempt: Attempt, kept: Ended['attempt'], signal: AbortSignal): Promise<Ended> {
    const startedAt = performance.now()
    const durationMs = () => Math.round(performance.now() - startedAt)
    try {
      const result = await this.options.send(attempt, signal)
      this.#faults.delete(attempt.delivery_id)
      const circumstances = { ...kept, schedule: this.options.schedule, now: Date.now(), random: Math.random() }
      const judgement = judge(result, circumstances)
      const ended = { attempt: kept, judgement, outcome: outcomeOf(result), duration_ms: durationMs() }
      if (result.kind === 'failure') return { ...ended, ...noAnswer, error: result.message }
      return { ...ended, status_code: result.status, error: null, excerpt: result.excerpt, truncated: result.truncated }
    } catch (err) {
      return this.#unmade(kept, err, durationMs(), signal.aborted)
    }
  }

  /** This worker stops, or has a fault of its own: the receiver did not fail. */
  #unmade (attempt: Ended['attempt'], err: unknown, duration_ms: number, isHandedOver: boolean): Ended {
    const { delivery_id: delivery, n } = attempt
    const waited = this.#faults.get(delivery) ?? ourFaultMs.first / 2
    const inMs = isHandedOver ? 0 : Math.min(2 * waited, ourFaultMs.longest)
    if (!isHandedOver) {
      this.#faults.set(delivery, inMs)
      this.options.log.warn({ delivery, attempt: n, err }, 'webhook attempt could not be made')
    }
    const judgement = { verdict: { status: 'retry' as const, inMs }, usesAttempt: false, fails: false }
    const error = isHandedOver
      ? 'handed over while this worker stopped'
      : 'could not be made; the operator sees why in the log'
    return { attempt, judgement, outcome: 'unknown', duration_ms, ...noAnswer, error }
  }

  /** Retries until it is written. Memory stays bounded, because nothing is claimed while Postgres is away. */
  async #persist (ended: Ended): Promise<boolean> {
    const startedAt = performance.now()
    let stoppedAt: number | undefined
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await this.#record(ended)
      } catch (err) {
        const now = performance.now()
        if (this.#isStopped && this.#incarnation.signal.aborted) stoppedAt ??= now
        const isGivenUp = (stoppedAt !== undefined && now > stoppedAt + lastWriteMs) ||
          (isAboutData(err) && now > startedAt + refusedForMs)
        this.#isInDoubt ||= isGivenUp
        if (isGivenUp) return false
        await delay(pauseMs)
      }
    }
  }

  #follow ({ next, notices }: Pick<Recorded, 'next' | 'notices'>): void {
    this.wake(next)
    for (const { type, ...details } of notices) this.options.log.warn(details, words[type])
    const exhausted = notices.filter(({ type, reason }) => type === 'delivery_exhausted' && reason !== 'crashed').length
    if (exhausted > 0) this.options.onExhausted?.(exhausted)
  }

  async #beat (): Promise<void> {
    const { pool, log } = this.options
    const worker = this.#worker
    for (const [former, incarnation] of this.#former) {
      void heartbeat(pool, former).then((heard) => { if (!heard) incarnation.abort(new Error(takenForDead)) }, () => {})
    }
    const heard = await heartbeat(pool, worker)
    if (this.#isStopped || worker !== this.#worker) return
    if (!heard && !this.#incarnation.signal.aborted) {
      log.warn({ worker }, 'others took this worker for dead, and make its attempts again: it begins anew')
      this.#incarnation.abort(new Error(takenForDead))
      this.#isInDoubt = true
    }
    if (this.#isInDoubt) await this.#claim('')
    else if (heard) await this.#sendSuspects(heard.suspects)
  }

  /** Sends suspects one at a time, while other attempts go on: so the next crash counts against a single suspect. */
  async #sendSuspects (assistants: string[]): Promise<void> {
    if (assistants.length === 0 || this.#suspecting || !this.options.maySend()) return
    const sending = async () => {
      while (!this.#isStopped) {
        const { attempts: [attempt] } = await this.#claimAs(
          { worker: this.#worker, room: 1, bytes: room.bytes, suspects: true }, assistants)
        if (!attempt) return
        await this.#run({ ...attempt, isSuspect: true })
      }
    }
    this.#suspecting = sending().finally(() => { this.#suspecting = undefined })
    await this.#suspecting
  }

  /** Periodic tasks for one worker of many, while it may send. */
  get tasks (): Periodic[] {
    const { pool, reconcileEveryMs: everyMs = 10_000 } = this.options
    return [
      { name: 'reconciler', everyMs, run: async (signal) => this.wake(await findWaiting(pool, signal)) },
      { name: 'silent workers', everyMs: 2_000, run: () => this.#closeLost() },
      { name: 'hastening', everyMs: 2_000, run: async () => this.wake(await continueHastening(pool)) },
      { name: 'held webhooks', everyMs: 60_000, run: () => cancelHeld(pool) }
    ]
  }

  async #closeLost (): Promise<void> {
    const { pool, log } = this.options
    const workers = await removeSilent(pool, this.#worker)
    if (workers === this.#lookedAt) return
    const { closed, isAll, ...recorded } = await closeLost(pool)
    if (isAll) this.#lookedAt = workers
    if (closed > 0) log.info({ closed }, 'attempts of workers that are gone are made again')
    this.#follow(recorded)
  }

  /** Aborts running attempts, which others make again. */
  handOver (): void {
    for (const each of [this.#incarnation, ...this.#former.values()]) each.abort(new Error('the worker stops'))
  }

  /** Claims nothing more, waits up to `graceMs` for running attempts, and hands over the rest. */
  async stop (graceMs: number): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    const ending = async () => {
      await this.#claim('').catch(() => {}) // waits for the claim that runs
      await Promise.all([this.#suspecting, ...this.#running])
    }
    if (!await endsWithin(graceMs, ending())) this.handOver()
    await endsWithin(lastWriteMs, ending())
    clearInterval(this.#beating)
    await endsWithin(lastWriteMs, this.#adding)
    await endsWithin(lastWriteMs, dismiss(this.options.pool, this.#worker))
  }
}

/** Batches calls: one `work` serves all assistants that are named while the one before runs. */
const together = (work: (assistants: string[]) => Promise<void>, limit: number) => batcher<string, void>({
  runBatch: (assistants) => work(assistants).then(() => []),
  isOfOne: () => false,
  limit
})

const noAnswer = { status_code: null, excerpt: null, truncated: false }

const takenForDead = 'this worker was taken for dead'

const words: Record<NewNotice['type'], string> = {
  endpoint_failing: 'a webhook fails',
  endpoint_recovered: 'a webhook that failed works again',
  endpoint_suspended: 'a webhook is suspended: it answered 410, or only failed for days',
  delivery_exhausted: 'a delivery gets no further attempt'
}
