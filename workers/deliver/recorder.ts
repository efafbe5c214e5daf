// Writes starts and outcomes of attempts of the schedule into the delivery log: many in one statement, and for as long
// as it takes, so that what was sent is recorded, however long Postgres is away.
import type { Pool } from 'pg'
import { finishAttempt, finishAttempts, type Finished } from '../deliveries/attempts/finish.js'
import { startAttempt, startAttempts, type Start, type Started } from '../deliveries/attempts/start.js'
import { batcher } from '../../src/postgres/batcher.js'
import { setTimeout as delay } from 'node:timers/promises'
import { isAboutData } from '../../src/postgres/problems.js'
import { logRarely } from '../queue/back-ends/log-rarely.js'

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

/** @param given the signal is aborted when the worker must end */
export function openRecorder (
  { pool, signal, log }: { pool: Pool, signal: AbortSignal, log: { warn (details: object, message: string): void } }
): Recorder {
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
    persistently: openPersist(signal, logRarely(log, keptOutcomes))
  }

  function logBatchError (error: unknown): void {
    log.warn({ err: error }, 'a batch of attempts could not be written, each attempt is now written alone')
  }
}

const keptOutcomes = 'outcomes of webhook attempts cannot be written, they are kept and tried again'

/** Repeats a write until it succeeds. */
type Persist = <Answer>(write: () => Promise<Answer>) => Promise<Answer>

const firstPauseMs = 100
/** Shorter than the period of the reconciler, which closes what has no outcome. */
const longestPauseMs = 1_000
/** Waiting seldom mends a value that Postgres refuses. */
const refusedForMs = 30_000
/** As long as a stop waits for attempts that it has handed over. */
const hurriedForMs = 2_000

/**
 * An outcome is kept in memory by the attempt that waits for it. There are never more of them than attempts that the
 * worker may run, and each has an excerpt of 16 KiB at most: while Postgres is away nothing new starts.
 */
function openPersist (signal: AbortSignal, tell: (error: Error) => void): Persist {
  return async (write) => {
    const startedAt = performance.now()
    let hurriedAt: number | undefined
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
      try {
        return await write()
      } catch (error) {
        const now = performance.now()
        if (signal.aborted) hurriedAt ??= now
        if (hurriedAt !== undefined && now > hurriedAt + hurriedForMs) throw error
        if (isAboutData(error) && now > startedAt + refusedForMs) throw error
        tell(error instanceof Error ? error : new Error(String(error)))
        await delay(pauseMs)
      }
    }
  }
}
