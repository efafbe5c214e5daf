// The queue, BullMQ on Redis or Postgres: each assistant with something due is a job. It may lose everything at any
// time, because the delivery log does not.
import { Queue, Worker, type IQueueBackend, type Job } from 'bullmq'
import type { Pool } from 'pg'
import { endsWithin, withTimeout } from '../../src/timing.js'
import { logRarely, usualPatience, watched, type BackEnd, type Patience } from './back-end.js'
import { Liveness } from './liveness.js'
import { postgresBackEnd } from './postgres.js'
import { redisBackEnd } from './redis.js'

export interface QueueOptions {
  /** Redis; without it the queue lives in the schema `queue` of Postgres. */
  redisUrl?: string | undefined
  databaseUrl: string
  pool: Pool
  log: { warn (details: object, message: string): void }
  patience?: Patience | undefined
}

export type JobQueue = Awaited<ReturnType<typeof openQueue>>

type Load = Record<string, never>
type Producer<Connection> = Queue<Load, void, string, Load, void, string, IQueueBackend, Connection>
type Consumer<Connection> = Worker<Load, void, string, IQueueBackend, never, Connection>

const name = 'assistants'
const [goodbyeMs, lastMs] = [2_000, 1_000]
/** BullMQ emits no event at the end of a job that vanished, for instance because Redis was emptied. */
const toldWithinMs = 2_000
/** The job of a killed worker is given up after 10 to 20 s; with BullMQ's defaults it would be a minute. */
const stalled = { lockDuration: 10_000, stalledInterval: 5_000 }
/** How long a worker waits for a notification of a job before it polls. */
const lookEverySeconds = 5
/** On Postgres, a bulk insert goes through temporary tables, which takes ten times as long as one job. */
const mostAlone = 8

/** Opens the queue; on Postgres it makes its tables first. Redis may be down: the queue works as soon as it is up. */
export async function openQueue (options: QueueOptions) {
  const { redisUrl, databaseUrl, pool, log, patience: { answerWithinMs } = usualPatience } = options
  // Others may use the same Redis, so the name of the queue is unique to this database.
  const { rows: [row] } = await pool.query<{ id: string }>('SELECT id FROM ledger.this_database')
  const queueName = `${name}-${row?.id}`
  return redisUrl === undefined
    ? new BullQueue(queueName, await postgresBackEnd(pool, databaseUrl, answerWithinMs), options)
    : new BullQueue(queueName, await redisBackEnd(redisUrl, log, answerWithinMs), options)
}

class BullQueue<Connection> {
  readonly #queue: Producer<Connection>
  readonly #producing = new Liveness()
  readonly #watches = { taking: new Liveness(), waiting: new Liveness() }
  readonly #asking: NodeJS.Timeout
  readonly #patience: Patience
  #worker: Consumer<Connection> | undefined

  constructor (
    private readonly queueName: string,
    private readonly backEnd: BackEnd<Connection>,
    private readonly options: QueueOptions
  ) {
    this.#patience = options.patience ?? usualPatience
    this.#queue = new Queue(queueName, {
      connection: backEnd.producer,
      skipWaitingForReady: true, // with Redis down at the start the first INFO fails, and BullMQ never forgets that
      skipVersionCheck: true,
      skipMetasUpdate: true,
      defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
    }, backEnd.factory)
    this.#queue.on('error', this.#teller('queue'))
    this.#asking = setInterval(() => void this.assertAnswers().catch(() => {}), this.#patience.askEveryMs)
  }

  /** An assistant that has a job gets no second one. @throws if the queue does not answer */
  async add (assistants: string[]): Promise<void> {
    const jobs = assistants.map((id) => ({ name, data: {}, opts: { jobId: `a${id}` } }))
    await this.#ask(() => jobs.length > mostAlone
      ? this.#queue.addBulk(jobs)
      : Promise.all(jobs.map(({ data, opts }) => this.#queue.add(name, data, opts))))
  }

  /** @param onEnded called when the job is gone, and its assistant may be added again */
  work (
    take: (assistantId: string) => Promise<void>, concurrency: number, onEnded: (assistantId: string) => void
  ): void {
    const assistantOf = (job: { id?: string | undefined }) => job.id?.slice(1) ?? ''
    const ending = new Map<object, NodeJS.Timeout>()
    const end = (job: Pick<Job, 'id'>) => {
      clearTimeout(ending.get(job))
      if (ending.delete(job)) onEnded(assistantOf(job))
    }
    this.backEnd.onListening = () => this.#watches.waiting.answered()
    const worker: Consumer<Connection> = new Worker(this.queueName, async (job) => {
      await take(assistantOf(job)).finally(() => ending.set(job, setTimeout(() => end(job), toldWithinMs).unref()))
    }, {
      connection: this.backEnd.worker,
      concurrency,
      drainDelay: lookEverySeconds,
      ...stalled,
      skipVersionCheck: true, // it writes to the console; ours is in redis-trouble.ts
      maxStalledCount: 0, // the delivery log decides what becomes of an attempt whose worker died
      runRetryDelay: 1_000
    }, watched(this.backEnd.factory, this.#watches, lookEverySeconds))
    worker.on('completed', end)
    const tellFailed = logRarely(this.options.log, 'due webhooks could not be claimed; the reconciler repeats it')
    worker.on('failed', (job, error) => {
      if (job) end(job)
      tellFailed(error)
    })
    worker.on('error', this.#teller('worker'))
    this.#worker = worker
  }

  /** Takes no job until `resume`. */
  pause (): void {
    void this.#worker?.pause(true).catch(this.#teller('worker'))
  }

  resume (): void {
    void this.#worker?.resume()
  }

  /** Takes no more jobs; those that it has are short. */
  async stopWork (): Promise<void> {
    await endsWithin(goodbyeMs, this.#worker?.pause())
    await endsWithin(lastMs, this.#worker?.close(true)) // else it would extend locks for ever in a queue that is silent
  }

  /** In words, once the queue has not answered requests for ten seconds. */
  silence (): string | undefined {
    const { taking, waiting } = this.#watches
    const silentMs = Math.max(...[this.#producing, taking, waiting].map((each) => each.silentMs()))
    return silentMs > this.#patience.deadAfterMs ? `the webhooks queue has not answered for ${Math.round(silentMs)} ms` : undefined
  }

  /** Asks the queue. @throws when it does not answer */
  async assertAnswers (): Promise<void> {
    await this.#ask(() => this.#queue.isPaused())
    const silence = this.silence()
    if (silence !== undefined) throw new Error(silence)
  }

  async close (): Promise<void> {
    clearInterval(this.#asking)
    await endsWithin(lastMs, this.#queue.close())
    this.backEnd.disconnect()
  }

  async #ask<Answer> (question: () => Promise<Answer>): Promise<Answer> {
    const { answerWithinMs } = this.#patience
    return await this.#producing.watch(() =>
      withTimeout(answerWithinMs, question(), () => new Error(`no answer within ${answerWithinMs} ms`)))
  }

  #teller (part: string): (error: Error) => void {
    const tell = logRarely(this.options.log, `the webhooks ${part} has trouble`)
    return (error) => { if (!this.backEnd.isTold?.()) tell(error) }
  }
}
