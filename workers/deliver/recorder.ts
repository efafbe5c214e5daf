// Writes starts and outcomes of attempts of the schedule into the delivery log, many in one statement.
import type { Pool } from 'pg'
import { finishAttempt, finishAttempts, type Finished } from '../deliveries/attempts/finish.js'
import { startAttempt, startAttempts, type Start, type Started } from '../deliveries/attempts/start.js'
import { batcher } from '../../src/postgres/batcher.js'
import { openPersist, type Persist, type PersistOptions } from './persist.js'

export interface Recorder {
  startScheduled (start: Start): Promise<Started>
  /** @returns false when the attempt was closed as `unknown` meanwhile */
  finishScheduled (finished: Finished): Promise<boolean>
  /** Whether something of the user was due without a slot as attempts of theirs ended. Says so once. */
  takeDue (userId: string): boolean
  persistently: Persist
}

/** Attempts that start, or finish, in one statement. */
const batchLimit = 100

export function openRecorder ({ pool, signal, log }: PersistOptions & { pool: Pool }): Recorder {
  const due = new Set<string>()
  const onDue = (userId: string) => { due.add(userId) }
  return {
    startScheduled: batcher<Start, Started>({
      runBatch: (starts) => startAttempts(pool, starts),
      runOne: async (start) => ({ attempt: await startAttempt(pool, start) }),
      onError: logBatchError,
      limit: batchLimit
    }),
    finishScheduled: batcher<Finished, boolean>({
      runBatch: (finished) => finishAttempts(pool, finished, onDue),
      runOne: ({ attempt, finish, verdict }) => finishAttempt(pool, attempt, finish, verdict, onDue),
      onError: logBatchError,
      limit: batchLimit
    }),
    takeDue: (userId) => due.delete(userId),
    persistently: openPersist({ signal, log })
  }

  function logBatchError (error: unknown): void {
    log.warn({ err: error }, 'a batch of attempts could not be written, each attempt is now written alone')
  }
}
