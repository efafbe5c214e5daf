// Tells GETs how far what they read has come.
import { setTimeout as delay } from 'node:timers/promises'
import type { Streams } from '../event-store/streams.js'
import type { ReadPositions } from '../http/read-position.js'
import type { Positions } from '../../projections/engine/positions.js'

export interface ReadPositionsOptions {
  positions: Pick<Positions, 'passed' | 'reached'>
  streams: Pick<Streams, 'head'>
  /** How far the ledger of deliveries follows the log. */
  dispatched (): Promise<bigint>
  /** How long a GET waits, in milliseconds. */
  waitMs: number
}

const pollMs = 50

/** The log has no lag behind itself: what it does not hold yet, nobody was told of. */
export function readPositions ({ positions, streams, dispatched, waitMs }: ReadPositionsOptions): ReadPositions {
  let looked = { at: -Infinity, position: Promise.resolve(0n) }
  return {
    waitMs,
    async passed (source) {
      if (source === 'log') return await streams.head()
      return source === 'deliveries' ? await look() : await positions.passed(source)
    },
    async reached (source, position, withinMs) {
      if (source === 'log') return await streams.head() >= position
      return source === 'deliveries' ? await isDispatched(position, withinMs) : await positions.reached(source, position, withinMs)
    }
  }

  /** The dispatcher notifies nobody: its checkpoint is looked up, once in 50 ms for all who ask. */
  function look (): Promise<bigint> {
    const now = performance.now()
    if (now - looked.at >= pollMs) looked = { at: now, position: dispatched() }
    return looked.position
  }

  async function isDispatched (position: bigint, withinMs: number): Promise<boolean> {
    for (const until = performance.now() + withinMs; await look() < position;) {
      if (performance.now() > until) return false
      await delay(pollMs)
    }
    return true
  }
}
