// How BullMQ is asked: to queue jobs, and to run them.
import { Queue, Worker, type IQueueBackend } from 'bullmq'
import type { Pool } from 'pg'
import type { BackEnd } from './back-ends/back-end.js'
import { Places } from './back-ends/places.js'
import type { Job } from '../deliveries/attempts/attempt.js'
import { jobId } from './job-queue.js'

/** What one job of BullMQ carries: an attempt, or several, each of which is made by itself. */
type Load = Job | Job[]

export type JobWorker<Connection> = Worker<Load, void, string, IQueueBackend, never, Connection>

export type Producer<Connection> = Queue<Load, void, string, Load, void, string, IQueueBackend, Connection>

const name = 'webhooks'

/** Between the ids of the attempts of a job, which are its id. */
const separator = ','

/** @param together most attempts of a job */
export function jobsOf (asked: readonly Job[], together: number) {
  return Array.from({ length: Math.ceil(asked.length / together) }, (_, nth) => {
    const load = asked.slice(nth * together, (nth + 1) * together)
    const [only] = load
    const data = only !== undefined && load.length === 1 ? only : load
    return { name, data, opts: { jobId: load.map(jobId).join(separator) } }
  })
}

export const idsIn = (jobs: readonly string[]): Set<string> => new Set(jobs.flatMap((id) => id.split(separator)))

/** Of this database alone: others may use the same Redis, and would take its jobs for stale ones. */
export async function queueNameOf (pool: Pool): Promise<string> {
  const { rows: [row] } = await pool.query<{ id: string }>('SELECT id FROM ledger.this_database')
  if (!row) throw new Error('ledger.this_database is empty: it has one row, always')
  return `${name}-${row.id}`
}

export function openProducer<Connection> (
  queueName: string, { producer, factory }: BackEnd<Connection>
): Producer<Connection> {
  return new Queue(queueName, {
    connection: producer,
    skipWaitingForReady: true, // with Redis down at the start the first INFO fails, and BullMQ never forgets that
    skipVersionCheck: true,
    skipMetasUpdate: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  }, factory)
}

/** @param run makes an attempt, `concurrency` at a time; must not throw */
export function openWorker<Connection> (
  queueName: string,
  { worker: connection, factory }: BackEnd<Connection>,
  times: { concurrency: number, lockDuration: number, stalledInterval: number, drainDelay: number },
  run: (job: Job) => Promise<void>
): JobWorker<Connection> {
  const places = new Places(times.concurrency)
  let running = 0
  const takeNoMoreThanFit = () => { worker.concurrency = Math.max(1, running + places.free) }
  const worker: JobWorker<Connection> = new Worker(queueName, async ({ data }) => {
    const ended = [data].flat().map((job) => places.run(() => run(job)))
    running += 1
    takeNoMoreThanFit()
    await Promise.all(ended)
    running -= 1
    takeNoMoreThanFit()
  }, {
    connection,
    ...times,
    skipVersionCheck: true, // it writes to the console; ours is in redis-trouble.ts
    maxStalledCount: 0, // the delivery log decides what becomes of an attempt whose worker died
    runRetryDelay: 1_000
  }, factory)
  return worker
}
