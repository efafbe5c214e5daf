// How BullMQ is asked: to queue jobs, and to run them.
import { Queue, Worker, type IQueueBackend } from 'bullmq'
import type { Pool } from 'pg'
import type { BackEnd } from './back-ends/back-end.js'

export type JobWorker<Task, Connection> = Worker<Task, void, string, IQueueBackend, never, Connection>

export type Producer<Task, Connection> = Queue<Task, void, string, Task, void, string, IQueueBackend, Connection>

/** Of this database alone: others may use the same Redis, and would take its jobs for stale ones. */
export async function queueNameOf (kind: string, pool: Pool): Promise<string> {
  const { rows: [row] } = await pool.query<{ id: string }>('SELECT id FROM ledger.this_database')
  if (!row) throw new Error('ledger.this_database is empty: it has one row, always')
  return `${kind}-${row.id}`
}

export function openProducer<Task, Connection> (
  queueName: string, { producer, factory }: BackEnd<Connection>
): Producer<Task, Connection> {
  return new Queue(queueName, {
    connection: producer,
    skipWaitingForReady: true, // with Redis down at the start the first INFO fails, and BullMQ never forgets that
    skipVersionCheck: true,
    skipMetasUpdate: true,
    defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true }
  }, factory)
}

export function openWorker<Task, Connection> (
  queueName: string,
  { worker, factory }: BackEnd<Connection>,
  times: { concurrency: number, lockDuration: number, stalledInterval: number, drainDelay: number },
  process: (job: { id?: string | undefined, data: Task }) => Promise<void>
): JobWorker<Task, Connection> {
  return new Worker(queueName, process, {
    connection: worker,
    ...times,
    maxStalledCount: 0, // the delivery log decides what becomes of an attempt whose worker died
    runRetryDelay: 1_000
  }, factory)
}
