// Writes the outcomes of attempts for as long as it takes: what was sent is recorded, however long Postgres is away.
import { setTimeout as delay } from 'node:timers/promises'
import { isAboutData } from '../../src/postgres/problems/about-data.js'
import { logRarely } from '../queue/back-ends/log-rarely.js'

/** Repeats a write until it succeeds. */
export type Persist = <Answer>(write: () => Promise<Answer>) => Promise<Answer>

export interface PersistOptions {
  /** Aborted when the worker must end. */
  signal: AbortSignal
  log: { warn (details: object, message: string): void }
}

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
export function openPersist ({ signal, log }: PersistOptions): Persist {
  const tell = logRarely(log, 'outcomes of webhook attempts cannot be written, they are kept and tried again')
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
