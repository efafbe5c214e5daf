// Long work in parts: between two of them, whatever else the process does has its turn.
import { setImmediate as turn } from 'node:timers/promises'

/** How many events are worked on without a pause: some ten milliseconds. */
export const mostAtOnce = 10_000

export function * partsOf<T> (all: readonly T[]): Generator<T[]> {
  for (let from = 0; from < all.length; from += mostAtOnce) yield all.slice(from, from + mostAtOnce)
}

/** Does something with each, with a turn for others after `mostAtOnce` of them. */
export async function forEachInTurns<T> (all: readonly T[], work: (one: T) => void): Promise<void> {
  let isFirst = true
  for (const part of partsOf(all)) {
    if (!isFirst) await turn()
    isFirst = false
    for (const one of part) work(one)
  }
}
