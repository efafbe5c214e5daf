// Tells GETs how far what they read has come.
import type { Streams } from './event-store/streams.js'
import type { ReadPositions } from './http/read-position.js'
import type { Positions } from '../projections/positions.js'

/** The log has no lag behind itself: what it does not hold yet, nobody was told of. */
export function readPositions (positions: Pick<Positions, 'passed' | 'reached'>, { head }: Pick<Streams, 'head'>, waitMs: number): ReadPositions {
  return {
    waitMs,
    passed: (source) => source === 'log' ? head() : positions.passed(source),
    reached: async (source, position, withinMs) => source === 'log' ? await head() >= position : await positions.reached(source, position, withinMs)
  }
}
