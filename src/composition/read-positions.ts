// Answers to GETs how far their source has come: the log itself, or what follows it.
import type { Positions } from '../../projections/engine/positions/positions.js'
import type { Streams } from '../event-store/streams.js'
import type { ReadPositions } from '../http/read-position.js'

export interface ReadPositionsOptions {
  /** Of the projections, and of the webhook dispatcher as `deliveries`. */
  positions: Pick<Positions, 'passed' | 'reached'>
  streams: Pick<Streams, 'head'>
  /** How long a GET waits, in milliseconds. */
  waitMs: number
}

/** The log never lags: an answer names no position that the log does not hold. */
export function readPositions ({ positions, streams, waitMs }: ReadPositionsOptions): ReadPositions {
  return {
    waitMs,
    async passed (source) {
      return source === 'log' ? await streams.head() : await positions.passed(source)
    },
    async reached (source, position, withinMs) {
      if (source === 'log') return await streams.head() >= position
      return await positions.reached(source, position, withinMs)
    }
  }
}
