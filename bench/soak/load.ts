// Work at the highest rate that it can be done at, and at a steady one.
import { setTimeout as delay } from 'node:timers/promises'

/** Does one piece of the work. @throws what went wrong with it */
export type Work = () => Promise<void>

export interface Outcome {
  done: number
  /** From when a piece was due to its end, in milliseconds. */
  latencies: number[]
  failures: string[]
}

const mostInFlight = 500

/** So many pieces at once, one after the other. @returns how many a second, over the second half of the time */
export async function topRate (work: Work, atOnce: number, seconds: number): Promise<number> {
  const endsAt = performance.now() + seconds * 1_000
  const countFrom = endsAt - seconds * 500
  let counted = 0
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (performance.now() < endsAt) {
      await work()
      const now = performance.now()
      if (now > countFrom && now < endsAt) counted += 1
    }
  }))
  return counted / (seconds / 2)
}

/** A piece is begun when it is due, whatever became of those before; one too many in flight is a failure. */
export async function steadily (work: Work, rate: number, seconds: number): Promise<Outcome> {
  const outcome: Outcome = { done: 0, latencies: [], failures: [] }
  const running = new Set<Promise<void>>()
  const startedAt = performance.now()
  for (let n = 0; n < rate * seconds; n++) {
    const dueAt = startedAt + n * 1_000 / rate
    if (dueAt > performance.now()) await delay(dueAt - performance.now())
    if (running.size >= mostInFlight) {
      outcome.failures.push(`more than ${mostInFlight} requests at once`)
      continue
    }
    const piece = work().then(() => {
      outcome.done += 1
      outcome.latencies.push(performance.now() - dueAt)
    }, (error: unknown) => { outcome.failures.push(String(error)) }).finally(() => running.delete(piece))
    running.add(piece)
  }
  await Promise.all(running)
  return outcome
}
