// The queue of jobs: BullMQ on Redis or on Postgres. It may lose everything at any time; the delivery log does not.
import { Queue, Worker, type IQueueBackend } from 'bullmq'
import type { Pool } from 'pg'
import type { Job } from '../deliveries/attempts.js'
import { postgresBackEnd, redisBackEnd, type BackEnd } from './back-end.js'
import { endsWithin } from './ends-within.js'
import { logRarely } from './log-rarely.js'
import { openOverflow } from './overflow.js'

export interface JobQueue {
  /** Queues all jobs or none. @throws at once when the queue cannot be reached */
  add (jobs: Job[]): Promise<void>
  /** The ids of all jobs that wait or run. @throws when the queue cannot be reached */
  ids (): Promise<Set<string>>
  /**
   * Passes jobs to `handle`, `concurrency` at a time. Up to 2,000 jobs that take longer than a second do not count.
   * An error of `handle` is logged, and the job is gone.
   */
  work (handle: (job: Job) => Promise<void>, concurrency: number): void
  /** Starts no more jobs and waits for running ones, at most `graceMs`; then it calls `hurry`. */
  stopWork (graceMs: number, hurry: () => void): Promise<void>
  close (): Promise<void>
}

export interface QueueOptions {
  /** Redis; without it the queue lives in the schema `queue` of Postgres. */
  redisUrl?: string | undefined
  databaseUrl: string
  pool: Pool
  log: { warn (details: object, message: string): void }
  /** When the queue gives up the job of a killed worker, in milliseconds; BullMQ's own values make it a minute. */
  stalled?: { lockDuration: number, stalledInterval: number } | undefined
}

const queueName = 'webhooks'
const hurriedMs = 2_000
/** The job of a killed worker is given up after 10 to 20 s, and the reconciler queues its attempt again. */
const stalledByDefault = { lockDuration: 10_000, stalledInterval: 5_000 }

/**
 * A receiver that hangs costs a socket and its body's memory, and should cost no more: the limit is the slots of forty
 * users who all have such receivers. The delivery log knows what has started: a job may end before its attempt.
 */
const longJobs = { afterMs: 1_000, limit: 2_000 }

/** Names the job, so that the queue takes it once. */
export const jobId = ({ deliveryId, n, jobNumber, trigger }: Job) => `${deliveryId}-${trigger ?? ''}${n}-${jobNumber}`

/** Opens the queue; on Postgres it makes its tables first. Redis may be down: the queue works as soon as it is up. */
export async function openQueue (options: QueueOptions): Promise<JobQueue> {
  const { redisUrl, databaseUrl, pool, log } = options
  return redisUrl === undefined
    ? new BullQueue(await postgresBackEnd(pool, databaseUrl), options)
    : new BullQueue(await redisBackEnd(redisUrl, log), options)
}

class BullQueue<Connection> implements JobQueue {
  readonly #queue: ReturnType<typeof openProducer<Connection>>
  readonly #overflow = openOverflow(longJobs)
  #worker: JobWorker<Connection> | undefined

  constructor (private readonly backEnd: BackEnd<Connection>, private readonly options: QueueOptions) {
    this.#queue = openProducer(backEnd)
    this.#queue.on('error', logRarely(options.log, 'the webhook queue has trouble'))
  }

  async add (jobs: Job[]): Promise<void> {
    const [first, ...more] = jobs.map((job) => ({ name: 'attempt', data: job, opts: { jobId: jobId(job) } }))
    if (first === undefined) return
    // On Postgres many jobs pass through temporary tables, which takes ten times as long as one job.
    if (more.length === 0) await this.#queue.add(first.name, first.data, first.opts)
    else await this.#queue.addBulk([first, ...more])
  }

  async ids (): Promise<Set<string>> {
    return new Set(await this.#queue.getRanges(['waiting', 'active'], 0, -1))
  }

  work (handle: (job: Job) => Promise<void>, concurrency: number): void {
    const { log, stalled = stalledByDefault } = this.options
    this.#worker = openWorker(this.backEnd, concurrency, stalled, ({ id, data }) =>
      this.#overflow.run(() => handle(data), (error) => this.#logFailure(id, error)))
    this.#worker.on('error', logRarely(log, 'the webhook worker has trouble'))
    this.#worker.on('failed', (job, error) => this.#logFailure(job?.id, error))
  }

  async stopWork (graceMs: number, hurry: () => void): Promise<void> {
    // After the close no more work moves into the overflow.
    const closing = Promise.resolve(this.#worker?.close()).then(this.#overflow.settled)
    if (await endsWithin(graceMs, closing)) return
    hurry()
    await endsWithin(hurriedMs, closing)
  }

  async close (): Promise<void> {
    await endsWithin(hurriedMs, this.#queue.close())
    this.backEnd.disconnect()
  }

  #logFailure (job: string | undefined, error: unknown): void {
    this.options.log.warn({ job, err: error }, 'webhook job failed, the reconciler repeats it')
  }
}

type JobWorker<Connection> = Worker<Job, void, string, IQueueBackend, never, Connection>

function openProducer<Connection> ({ producer, factory }: BackEnd<Connection>) {
  return new Queue<Job, void, string, Job, void, string, IQueueBackend, Connection>(queueName, {
    connection: producer,
    skipWaitingForReady: true, // with Redis down at the start the first INFO fails, and BullMQ never forgets that
    skipVersionCheck: true,
    skipMetasUpdate: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  }, factory)
}

function openWorker<Connection> (
  { worker, factory }: BackEnd<Connection>,
  concurrency: number,
  stalled: { lockDuration: number, stalledInterval: number },
  process: (job: { id?: string | undefined, data: Job }) => Promise<void>
): JobWorker<Connection> {
  return new Worker<Job, void, string, IQueueBackend, never, Connection>(queueName, process, {
    connection: worker,
    concurrency,
    maxStalledCount: 0, // the delivery log decides what becomes of an attempt whose worker died
    ...stalled,
    runRetryDelay: 1_000
  }, factory)
}
