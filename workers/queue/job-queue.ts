// What the queue of attempts does, wherever it keeps its jobs.
import type { Job } from '../deliveries/attempts/attempt.js'

export interface JobQueue {
  /** Queues all. @throws when the queue does not answer within five seconds; it may have some of them then */
  add (jobs: Job[]): Promise<void>
  /** The ids of all that wait or run. @throws when the queue does not answer within five seconds */
  ids (): Promise<Set<string>>
  /**
   * Passes jobs to `handle`, `concurrency` at a time; those that take long do not count. An error of `handle` is
   * logged, and the job is gone.
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
  close (): Promise<void>
}

export const jobId = ({ deliveryId, n, jobNumber, trigger }: Job) => `${deliveryId}-${trigger ?? ''}${n}-${jobNumber}`
