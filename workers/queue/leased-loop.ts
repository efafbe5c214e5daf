// Repeats a piece of work in one process of many.
import type { Pool } from 'pg'
import { wheneverLeased } from '../../src/subscriptions/lease.js'
import { pause } from '../../src/subscriptions/pause.js'

export interface LoopOptions {
  pool: Pool
  /** Of the lease. */
  name: string
  holder: string
  signal: AbortSignal
  /** After a pass that is done, and after one that failed, in milliseconds. */
  everyMs: number
  onError (error: unknown): void
}

/** Makes passes until `signal` is aborted. A pass that says `again` is followed by the next one at once. */
export async function repeatLeased (
  { pool, name, holder, signal, everyMs, onError }: LoopOptions, pass: () => Promise<'again' | 'done'>
): Promise<void> {
  while (!signal.aborted) {
    try {
      await wheneverLeased({ pool, name, holder, signal }, async (lease) => {
        while (!lease.signal.aborted) if (await pass() === 'done') await pause(everyMs, lease.signal)
      })
    } catch (error) {
      if (signal.aborted) return
      onError(error)
      await pause(everyMs, signal)
    }
  }
}
