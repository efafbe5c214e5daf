// Says to GETs how far what they read has come.
import { setTimeout as delay } from 'node:timers/promises'
import type { Positions } from '../../projections/engine/positions.js'
import type { Streams } from '../event-store/streams.js'
import type { ReadPositions } from '../http/read-position.js'

export interface ReadPositionsOptions {
  positions: Pick<Positions, 'passed' | 'reached'>
  streams: Pick<Streams, 'head'>
  /** Position of the webhook dispatcher. */
  dispatched (): Promise<bigint>
  /** How long a GET waits, in milliseconds. */
  waitMs: number
}

const pollMs = 50

/** The log never lags: an answer names no position that the log does not hold. */
export function readPositions ({ positions, streams, dispatched, waitMs }: ReadPositionsOptions): ReadPositions {
  let last = { at: -Infinity, position: Promise.resolve(0n) }
  return {
    waitMs,
    async passed (source) {
      if (source === 'log') return await streams.head()
      return source === 'deliveries' ? await readDispatched() : await positions.passed(source)
    },
    async reached (source, position, withinMs) {
      if (source === 'log') return await streams.head() >= position
      if (source === 'deliveries') return await isDispatched(position, withinMs)
      return await positions.reached(source, position, withinMs)
    }
  }

  /** The dispatcher notifies nobody. Its checkpoint is read once in 50 ms for all requests. */
  function readDispatched (): Promise<bigint> {
    const now = performance.now()
    if (now - last.at >= pollMs) last = { at: now, position: dispatched() }
    return last.position
  }

  async function isDispatched (position: bigint, withinMs: number): Promise<boolean> {
    for (const until = performance.now() + withinMs; await readDispatched() < position;) {
      if (performance.now() > until) return false
      await delay(pollMs)
    }
    return true
  }
}
