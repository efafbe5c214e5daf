// What the queue of jobs does, wherever it keeps them.
import type { Job } from '../deliveries/attempts/attempt.js'
import { connectionsOfQueue } from './back-ends/postgres.js'
import type { OverflowOptions } from './overflow.js'

/** What the tasks of a queue are like; attempts of deliveries, where nothing else is said. */
export interface QueueKind<Task> {
  /** Of the queue, before the name of its database. */
  name: string
  /** Names a task, so that the queue takes it once; without a comma. */
  idOf (task: Task): string
  longJobs: OverflowOptions
  /** Most tasks of one job when the queue is in Postgres, where a job costs more than an attempt. */
  together: number
  /** For how long a worker waits to be told of a job before it looks by itself, in seconds. */
  lookEverySeconds: number
  /** Whether it is asked again and again if it is there: then a process whose queue is dead can be told. */
  isWatched: boolean
  /** At most, of a worker, when the queue is in Postgres; one more listens. */
  connections: { producer: number, worker: number }
}

export interface JobQueue<Task = Job> {
  /** Queues all tasks. @throws when the queue does not answer within five seconds; it may have some of them then */
  add (tasks: Task[]): Promise<void>
  /** The ids of all tasks that wait or run. @throws when the queue does not answer within five seconds */
  ids (): Promise<Set<string>>
  /**
   * Passes tasks to `handle`, `concurrency` at a time. Of those that take long some do not count, as their kind says.
   * An error of `handle` is logged, and the task is gone.
   */
  work (handle: (task: Task) => Promise<void>, concurrency: number): void
  /**
   * Starts no more jobs and waits for running ones, at most `graceMs`; then it calls `hurry`. A queue that is dead is
   * waited for for two seconds when no job runs.
   */
  stopWork (graceMs: number, hurry: () => void): Promise<void>
  /** @throws when what was asked of the queue was not answered for ten seconds */
  assertAlive (): void
  /** Asks the queue. @throws when it does not answer */
  assertAnswers (): Promise<void>
  close (): Promise<void>
}

export const jobId = ({ deliveryId, n, jobNumber, trigger }: Job) => `${deliveryId}-${trigger ?? ''}${n}-${jobNumber}`

/**
 * A receiver that hangs costs a socket and its body's memory, and should cost no more: the limit is the slots of forty
 * users who all have such receivers. The delivery log knows what has started: a job may end before its attempt.
 */
const longJobs: OverflowOptions = { afterMs: 1_000, limit: 2_000 }

export const attempts: QueueKind<Job> = {
  name: 'webhooks',
  idOf: jobId,
  longJobs,
  together: 20,
  lookEverySeconds: 5,
  isWatched: true,
  connections: connectionsOfQueue
}
