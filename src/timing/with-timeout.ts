// Gives up work that is not answered in time.
import { setTimeout as delay } from 'node:timers/promises'

/** The result of `work`. @throws what `work` does, or `late()` when it takes longer than `ms` */
export async function withTimeout<Result> (ms: number, work: Promise<Result>, late: () => Error): Promise<Result> {
  const timer = new AbortController()
  const timeout = delay(ms, undefined, { signal: timer.signal }).then(() => { throw late() })
  timeout.catch(() => {}) // the loser of the race, or aborted below
  try {
    return await Promise.race([work, timeout])
  } finally {
    timer.abort()
  }
}
