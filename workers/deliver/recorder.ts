// Writes starts and outcomes of attempts of the schedule into the delivery log, many in one statement.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { finishAttempt, finishAttempts, type Finished } from '../deliveries/finish-attempts.js'
import { startAttempt, startAttempts, type Start, type Started } from '../deliveries/start-attempts.js'
import { batcher } from './batcher.js'

export interface Recorder {
  startScheduled (start: Start): Promise<Started>
  /** @returns false when the attempt was closed as `unknown` meanwhile */
  finishScheduled (finished: Finished): Promise<boolean>
  /** Repeats a write for half a minute: what was sent is recorded, also when Postgres restarts at this moment. */
  persistently<Answer> (write: () => Promise<Answer>): Promise<Answer>
}

/** Attempts that start, or finish, in one statement. */
const batchLimit = 100
const longestPauseMs = 15_000

export function openRecorder (
  { pool, log }: { pool: Pool, log: { warn (details: object, message: string): void } }
): Recorder {
  return {
    startScheduled: batcher<Start, Started>({
      runBatch: (starts) => startAttempts(pool, starts),
      runOne: async ({ job, token }) => ({ attempt: await startAttempt(pool, job, token) }),
      onError: logBatchError,
      limit: batchLimit
    }),
    finishScheduled: batcher<Finished, boolean>({
      runBatch: (finished) => finishAttempts(pool, finished),
      runOne: ({ attempt, finish, verdict }) => finishAttempt(pool, attempt, finish, verdict),
      onError: logBatchError,
      limit: batchLimit
    }),
    persistently
  }

  function logBatchError (error: unknown): void {
    log.warn({ err: error }, 'a batch of attempts could not be written, each attempt is now written alone')
  }
}

async function persistently<Answer> (write: () => Promise<Answer>): Promise<Answer> {
  for (let pauseMs = 100; ; pauseMs *= 2) {
    try {
      return await write()
    } catch (error) {
      if (pauseMs > longestPauseMs) throw error
      await delay(pauseMs)
    }
  }
}
