// A queue of jobs: BullMQ on Redis or on Postgres. It may lose everything at any time; the ledger does not.
import type { Pool } from 'pg'
import { withTimeout, endsWithin } from '../../src/timing.js'
import { usualPatience, watched, type BackEnd, type Patience } from './back-ends/back-end.js'
import { Liveness } from './back-ends/liveness.js'
import { logRarely } from './back-ends/log-rarely.js'
import {
  idsIn, jobsOf, openProducer, openWorker, queueNameOf, type JobWorker, type Producer
} from './bullmq.js'
import type { Job } from '../deliveries/attempts/attempt.js'
import { jobId, type JobQueue } from './job-queue.js'
import { openOverflow, type OverflowOptions } from './overflow.js'
import { postgresBackEnd } from './back-ends/postgres.js'
import { redisBackEnd } from './back-ends/redis.js'

export type { JobQueue } from './job-queue.js'

export interface QueueOptions {
  /** Redis; without it the queue lives in the schema `queue` of Postgres. */
  redisUrl?: string | undefined
  databaseUrl: string
  pool: Pool
  log: { warn (details: object, message: string): void }
  patience?: Patience | undefined
  /** When the queue gives up the job of a killed worker, in milliseconds; BullMQ's own values make it a minute. */
  stalled?: { lockDuration: number, stalledInterval: number } | undefined
}

const [hurriedMs, lastMs] = [2_000, 1_000]
/** A queue that answers is quicker: jobs that run for longer than a second do not count. */
const goodbyeMs = 2_000
/** The job of a killed worker is given up after 10 to 20 s, and the reconciler queues its attempt again. */
const stalledByDefault = { lockDuration: 10_000, stalledInterval: 5_000 }
const jobsAtOnce = 500
/** On Postgres many jobs pass through temporary tables, which takes ten times as long as one job. */
const mostAlone = 8

/** Attempts of one job when the queue is in Postgres, where a job costs more than an attempt. */
const together = 20
/** For how long a worker waits to be told of a job before it looks by itself. */
const lookEverySeconds = 5
/**
 * A receiver that hangs costs a socket and its body's memory, and should cost no more: the limit is the slots of forty
 * users who all have such receivers. The delivery log knows what has started: a job may end before its attempt.
 */
const longJobs: OverflowOptions = { afterMs: 1_000, limit: 2_000 }

/** Opens the queue; on Postgres it makes its tables first. Redis may be down: the queue works as soon as it is up. */
export async function openQueue (options: QueueOptions): Promise<JobQueue> {
  const { redisUrl, databaseUrl, pool, log, patience: { answerWithinMs } = usualPatience } = options
  const name = await queueNameOf(pool)
  return redisUrl === undefined
    ? new BullQueue(name, await postgresBackEnd(pool, databaseUrl, answerWithinMs), options)
    : new BullQueue(name, await redisBackEnd(redisUrl, log, answerWithinMs), options)
}

class BullQueue<Connection> implements JobQueue {
  readonly #queue: Producer<Connection>
  readonly #overflow = openOverflow(longJobs)
  readonly #producing = new Liveness()
  readonly #watches = { taking: new Liveness(), waiting: new Liveness() }
  readonly #asking: NodeJS.Timeout
  readonly #patience: Patience
  #worker: JobWorker<Connection> | undefined
  /** Aborted when it takes no more jobs. */
  #working = new AbortController()

  constructor (
    private readonly name: string,
    private readonly backEnd: BackEnd<Connection>,
    private readonly options: QueueOptions
  ) {
    this.#patience = options.patience ?? usualPatience
    this.#queue = openProducer(name, backEnd)
    this.#queue.on('error', this.#teller('queue'))
    this.#asking = setInterval(() => void this.assertAnswers().catch(() => {}), this.#patience.askEveryMs)
  }

  async add (asked: Job[]): Promise<void> {
    const { isThrifty } = this.backEnd
    const jobs = jobsOf(asked, isThrifty ? together : 1)
    if (jobs.length <= (isThrifty ? mostAlone : 1)) {
      await this.#ask(() => Promise.all(jobs.map(({ name, data, opts }) => this.#queue.add(name, data, opts))))
      return
    }
    for (let from = 0; from < jobs.length; from += jobsAtOnce) {
      await this.#ask(() => this.#queue.addBulk(jobs.slice(from, from + jobsAtOnce)))
    }
  }

  async ids (): Promise<Set<string>> {
    return idsIn(await this.#ask(() => this.#queue.getRanges(['waiting', 'active'], 0, -1)))
  }

  assertAlive (): void {
    const { taking, waiting } = this.#watches
    const silentMs = Math.max(...[this.#producing, taking, waiting].map((each) => each.silentMs()))
    if (silentMs <= this.#patience.deadAfterMs) return
    throw new Error(`the webhooks queue has not answered for ${Math.round(silentMs)} ms`)
  }

  async assertAnswers (): Promise<void> {
    await this.#ask(() => this.#queue.isPaused())
    this.assertAlive()
  }

  work (handle: (job: Job) => Promise<void>, concurrency: number): void {
    const { stalled = stalledByDefault } = this.options
    const times = { concurrency, ...stalled, drainDelay: lookEverySeconds }
    const backEnd = { ...this.backEnd, factory: watched(this.backEnd.factory, this.#watches, lookEverySeconds) }
    const { signal } = this.#working = new AbortController()
    this.backEnd.onListening = () => this.#watches.waiting.answered()
    const worker = this.#worker = openWorker<Connection>(this.name, backEnd, times, async (job) => {
      const failed = (error: unknown) => this.#logFailure(jobId(job), error)
      await this.#overflow.run(async () => {
        if (!signal.aborted) await handle(job) // what comes too late is queued again by the reconciler
      }, failed).catch(failed)
    })
    worker.on('error', this.#teller('worker'))
    worker.on('failed', (job, error) => this.#logFailure(job?.id, error))
  }

  async stopWork (graceMs: number, hurry: () => void): Promise<void> {
    const closing = endsWithin(goodbyeMs, this.#worker?.close()).then(this.#overflow.settled)
    if (!await endsWithin(graceMs, closing)) {
      hurry()
      await endsWithin(hurriedMs, closing)
    }
    this.#working.abort()
  }

  async close (): Promise<void> {
    clearInterval(this.#asking)
    await endsWithin(lastMs, this.#queue.close())
    this.backEnd.disconnect()
  }

  async #ask<Answer> (question: () => Promise<Answer>): Promise<Answer> {
    const { answerWithinMs } = this.#patience
    return await this.#producing.watch(() => withTimeout(answerWithinMs, question(), () => new Error(`no answer within ${answerWithinMs} ms`)))
  }

  #teller (part: string): (error: Error) => void {
    const tell = logRarely(this.options.log, `the webhooks ${part} has trouble`)
    return (error) => { if (!this.backEnd.isTold?.()) tell(error) }
  }

  #logFailure (job: string | undefined, error: unknown): void {
    this.options.log.warn({ job, err: error }, 'a job of the webhooks queue failed, the reconciler repeats it')
  }
}
