// Gives up work that is not answered in time.
import { setTimeout as delay } from 'node:timers/promises'
import { NoAnswer } from './errors.js'

/** The result of `work`. @throws what `work` does, or NoAnswer when it takes longer than `ms` */
export async function withTimeout<Result> (ms: number, work: Promise<Result>): Promise<Result> {
  const timer = new AbortController()
  const timeout = delay(ms, undefined, { signal: timer.signal })
    .then(() => { throw new NoAnswer(ms) })
  timeout.catch(() => {}) // the loser of the race, or aborted below
  try {
    return await Promise.race([work, timeout])
  } finally {
    timer.abort()
  }
}
