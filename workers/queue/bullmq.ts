// How BullMQ is asked: to queue jobs, and to run them.
import { Queue, Worker, type IQueueBackend } from 'bullmq'
import type { Pool } from 'pg'
import type { BackEnd } from './back-ends/back-end.js'
import { Places } from './back-ends/places.js'
import type { QueueKind } from './job-queue.js'

/** What one job carries: a task, or several, each of which is done by itself. */
type Load<Task> = Task | Task[]

export type JobWorker<Task, Connection> = Worker<Load<Task>, void, string, IQueueBackend, never, Connection>

export type Producer<Task, Connection> =
  Queue<Load<Task>, void, string, Load<Task>, void, string, IQueueBackend, Connection>

interface NamedJob<Task> { name: string, data: Load<Task>, opts: { jobId: string } }

/** Between the names of the tasks of a job, which are the name of the job. */
const separator = ','

/** @param together most tasks of a job */
export function jobsOf<Task> (
  tasks: readonly Task[], together: number, { name, idOf }: Pick<QueueKind<Task>, 'name' | 'idOf'>
): NamedJob<Task>[] {
  return Array.from({ length: Math.ceil(tasks.length / together) }, (_, nth) => {
    const load = tasks.slice(nth * together, (nth + 1) * together)
    const [only] = load
    const data = only !== undefined && load.length === 1 ? only : load
    return { name, data, opts: { jobId: load.map(idOf).join(separator) } }
  })
}

const tasksOf = <Task>(data: Load<Task>): Task[] => Array.isArray(data) ? data : [data]

export const taskIds = (jobs: readonly string[]): Set<string> => new Set(jobs.flatMap((id) => id.split(separator)))

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

/** @param run does a task, `concurrency` at a time; must not throw */
export function openWorker<Task, Connection> (
  queueName: string,
  { worker: connection, factory }: BackEnd<Connection>,
  times: { concurrency: number, lockDuration: number, stalledInterval: number, drainDelay: number },
  run: (task: Task) => Promise<void>
): JobWorker<Task, Connection> {
  const places = new Places(times.concurrency)
  let running = 0
  const takeNoMoreThanFit = () => { worker.concurrency = Math.max(1, running + places.free) }
  const worker: JobWorker<Task, Connection> = new Worker(queueName, async ({ data }) => {
    const ended = tasksOf(data).map((task) => places.run(() => run(task)))
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
