// Answers to GETs how far their source has come.
import type { Positions } from '../../../projections/engine/positions/positions.js'
import type { ReadPositions } from '../../http/read-position.js'

export interface ReadPositionsOptions {
  /** Of the projections, and of the webhook dispatcher as `deliveries`. */
  positions: Pick<Positions, 'passed' | 'reached' | 'isWhole'>
  /** How long a GET waits, in milliseconds. */
  waitMs: number
}

export function readPositions ({ positions, waitMs }: ReadPositionsOptions): ReadPositions {
  return {
    waitMs,
    passed: (source) => positions.passed(source),
    reached: (source, position, withinMs) => positions.reached(source, position, withinMs),
    isWhole: (source) => positions.isWhole(source)
  }
}
