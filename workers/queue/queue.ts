// The queue of jobs: BullMQ on Redis or on Postgres. It may lose everything at any time; the ledger does not.
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Queue, Worker, createPostgresBackend, createRedisBackend, runMigrations,
  type BackendFactory, type ConnectionOptions, type IQueueBackend, type PostgresConnectionOptions
} from 'bullmq'
import { Redis } from 'ioredis'
import type { Pool } from 'pg'
import { onConnection } from '../../src/postgres/transaction.js'
import type { Job } from '../deliveries/deliveries.js'
import { openOverflow } from './overflow.js'

export interface JobQueue {
  /** Queues jobs, all or none. @throws at once when the queue cannot be reached */
  add (jobs: Job[]): Promise<void>
  /** The job ids of all jobs that wait or run. @throws when the queue cannot be reached */
  ids (): Promise<Set<string>>
  /**
   * Hands jobs to `handle`, `concurrency` at a time; those that take longer than a second do not count, up to 2,000
   * of them. An error of `handle` is logged, the job is gone.
   */
  work (handle: (job: Job) => Promise<void>, concurrency: number): void
  /** Stops handing out and waits for what runs, at most `graceMs`; `hurry` is called when that is over. */
  stopWork (graceMs: number, hurry: () => void): Promise<void>
  close (): Promise<void>
}

export interface QueueOptions {
  /** Redis; without it the queue lives in the schema `queue` of Postgres. */
  redisUrl?: string | undefined
  databaseUrl: string
  pool: Pool
  log: { warn (details: object, message: string): void }
}

/** Where BullMQ keeps its jobs, for the producer and for the worker. */
interface Backend<Connection> {
  factory: BackendFactory<IQueueBackend, Connection>
  producer: Connection
  worker: Connection
  disconnect (): void
}

const queueName = 'webhooks'
const schema = 'queue'
const hurriedMs = 2_000
const firstConnectionMs = 2_000
const quietMs = 10_000
/** A job that a killed worker held is given up after 10 to 20 s, and the reconciler repeats it; BullMQ's own 30 s each made that a minute. */
const soonNoticed = { lockDuration: 10_000, stalledInterval: 5_000 }

/**
 * A receiver that hangs costs a socket and its body's memory, and should cost no more: the slots of forty users who
 * all do so, and as many attempts as usual beside them. The ledger knows what has started, so a job need not last.
 */
const longJobs = { afterMs: 1_000, limit: 2_000 }

/** Names the job, so that the same one is queued once. */
export const jobId = ({ deliveryId, n, jobNumber, trigger }: Job) => `${deliveryId}-${trigger ?? ''}${n}-${jobNumber}`

/** Opens the queue; on Postgres its tables are made first. Redis may be down: then it is used as soon as it is up. */
export async function openQueue (options: QueueOptions): Promise<JobQueue> {
  return options.redisUrl === undefined
    ? jobQueue(await postgresBackend(options), options.log)
    : jobQueue(await redisBackend(options.redisUrl, options.log), options.log)
}

async function postgresBackend ({ databaseUrl, pool }: QueueOptions): Promise<Backend<PostgresConnectionOptions>> {
  await onConnection(pool, async (client, isBroken) => {
    isBroken(new Error('the migrations set the search path of their session')) // so it is not used for anything else
    await runMigrations(client, schema)
  })
  const connection = (max: number) => ({
    connectionString: databaseUrl,
    schema,
    max,
    application_name: 'ringledger queue',
    connectionTimeoutMillis: 5_000,
    options: '-c synchronous_commit=off' // what a crash takes from the queue, the reconciler puts back
  })
  return { factory: createPostgresBackend, producer: connection(2), worker: connection(8), disconnect: () => {} }
}

async function redisBackend (url: string, log: QueueOptions['log']): Promise<Backend<ConnectionOptions>> {
  const retryStrategy = (times: number) => Math.min(times * 100, 2_000)
  // A producer fails at once when Redis is down, a worker waits for it for ever.
  const producer = new Redis(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1, connectTimeout: 5_000, retryStrategy })
  const worker = new Redis(url, { maxRetriesPerRequest: null, connectTimeout: 5_000, retryStrategy })
  // BullMQ blocks on a copy of the worker's connection, which it cannot drop while Redis is down.
  const copies: Redis[] = []
  const duplicate = worker.duplicate.bind(worker)
  worker.duplicate = (override) => {
    const copy = duplicate(override)
    copies.push(copy)
    return copy
  }
  for (const connection of [producer, worker]) connection.on('error', atTimes(log, 'Redis cannot be reached'))
  await within(firstConnectionMs, once(producer, 'ready'))
  return {
    factory: createRedisBackend,
    producer,
    worker,
    disconnect: () => { for (const connection of [producer, worker, ...copies]) connection.disconnect() }
  }
}

function jobQueue<Connection> (backend: Backend<Connection>, log: QueueOptions['log']): JobQueue {
  const queue = new Queue<Job, void, string, Job, void, string, IQueueBackend, Connection>(queueName, {
    connection: backend.producer,
    skipWaitingForReady: true, // with Redis down at the start the first INFO would fail, and BullMQ would remember that for ever
    skipVersionCheck: true,
    skipMetasUpdate: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  }, backend.factory)
  queue.on('error', atTimes(log, 'the webhook queue has trouble'))
  const onFailed = (job: string | undefined, error: unknown) => log.warn({ job, err: error }, 'webhook job failed, the reconciler repeats it')
  const overflow = openOverflow(longJobs)
  let worker: Worker<Job, void, string, IQueueBackend, never, Connection> | undefined
  return {
    async add (jobs) {
      const [job, ...more] = jobs.map((job) => ({ name: 'attempt', data: job, opts: { jobId: jobId(job) } }))
      if (job === undefined) return
      // On Postgres many jobs pass through temporary tables, which takes ten times as long as one job.
      if (more.length === 0) await queue.add(job.name, job.data, job.opts)
      else await queue.addBulk([job, ...more])
    },
    async ids () {
      return new Set(await queue.getRanges(['waiting', 'active'], 0, -1))
    },
    work (handle, concurrency) {
      worker = new Worker<Job, void, string, IQueueBackend, never, Connection>(queueName, ({ id, data }) => overflow.run(() => handle(data), (error) => onFailed(id, error)), {
        connection: backend.worker,
        concurrency,
        maxStalledCount: 0, // the ledger decides what becomes of an attempt whose worker died
        ...soonNoticed,
        runRetryDelay: 1_000
      }, backend.factory)
      worker.on('error', atTimes(log, 'the webhook worker has trouble'))
      worker.on('failed', (job, error) => onFailed(job?.id, error))
    },
    async stopWork (graceMs, hurry) {
      const closing = Promise.resolve(worker?.close()).then(overflow.settled) // after the close no more work moves there
      if (await within(graceMs, closing)) return
      hurry()
      await within(hurriedMs, closing)
    },
    async close () {
      await within(hurriedMs, queue.close())
      backend.disconnect()
    }
  }
}

/** Whether `work` ended in time, well or not. */
async function within (ms: number, work: Promise<unknown> | undefined): Promise<boolean> {
  const timer = new AbortController()
  const ended = Promise.resolve(work).then(() => true, () => true)
  const late = delay(ms, false, { signal: timer.signal }).catch(() => false)
  return Promise.race([ended, late]).finally(() => timer.abort())
}

/** Logs the first of a run of errors: a broken connection reports one at every try. */
function atTimes (log: QueueOptions['log'], message: string): (error: Error) => void {
  let quietUntil = 0
  return (error) => {
    if (Date.now() < quietUntil) return
    quietUntil = Date.now() + quietMs
    log.warn({ err: error }, message)
  }
}
