// What the queue of jobs does, wherever it keeps them.
import type { Job } from '../deliveries/attempts/attempt.js'

export interface JobQueue {
  /** Queues all jobs. @throws when the queue does not answer within five seconds; it may have some of them then */
  add (jobs: Job[]): Promise<void>
  /** The ids of all jobs that wait or run. @throws when the queue does not answer within five seconds */
  ids (): Promise<Set<string>>
  /**
   * Passes jobs to `handle`, `concurrency` at a time. Up to 2,000 jobs that take longer than a second do not count.
   * An error of `handle` is logged, and the job is gone.
   */
  work (handle: (job: Job) => Promise<void>, concurrency: number): void
  /**
   * Starts no more jobs and waits for running ones, at most `graceMs`; then it calls `hurry`. A queue that is dead is
   * waited for for two seconds when no job runs.
   */
  stopWork (graceMs: number, hurry: () => void): Promise<void>
  /** @throws when what was asked of the queue was not answered for ten seconds */
  assertAlive (): void
  /** Asks the queue. @throws when it does not answer */
  assertAnswers (): Promise<void>
  /** Jobs run, long ones included. */
  isWorking (): boolean
  close (): Promise<void>
}
