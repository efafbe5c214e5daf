// Runs periodic tasks on one worker of many, under one lease.
import type { Pool } from 'pg'
import { isOfOutage } from '../src/log/errors.js'
import { endsWithin, pause } from '../src/timing.js'
import { wheneverLeased } from '../src/subscriptions/lease.js'

export interface Periodic {
  name: string
  /** The pause, or ten times the length of the pass if longer. A failed pass is repeated within ten seconds. */
  everyMs: number
  /** A longer pass is given up, with the lease: it may wait for a dead connection. */
  passWithinMs?: number
  /** @param signal aborted when the pass is given up: then it must begin nothing more */
  run (signal: AbortSignal): Promise<unknown>
}

interface PeriodicOptions {
  pool: Pool
  /** Of the lease. */
  name: string
  holder: string
  signal: AbortSignal
  log: { warn (details: object, message: string): void }
}

const longestPassMs = 60_000
/** A long pass is followed by a pause, so that it takes at most a tenth of a connection's time, up to this pause. */
const [pauseOfPass, longestPauseMs] = [10, 60_000]
/** Short, because after an outage everybody waits for the periodic work. */
const leaseBackoffMs = 2_000
const longestBackoffMs = 10_000

/** Repeats the tasks in parallel until `signal` is aborted. One that fails backs off alone. */
export async function runPeriodic (tasks: Periodic[], options: PeriodicOptions): Promise<void> {
  const { name, signal, log } = options
  while (!signal.aborted) {
    try {
      await wheneverLeased(options, async (lease) => {
        const ended = new AbortController()
        const held = AbortSignal.any([lease.signal, ended.signal])
        await Promise.all(tasks.map((task) => repeat(task, held, log))).finally(() => ended.abort())
      })
    } catch (err) {
      if (signal.aborted) return
      log.warn({ err, lease: name }, 'periodic work stopped, it starts again')
      await pause(leaseBackoffMs, signal)
    }
  }
}

/** @throws when a pass does not end in time */
async function repeat (
  { name, everyMs, passWithinMs = longestPassMs, run }: Periodic, signal: AbortSignal, log: PeriodicOptions['log']
): Promise<void> {
  while (!signal.aborted) {
    const from = performance.now()
    const passing = run(signal)
    if (!await endsWithin(passWithinMs, passing)) {
      throw new Error(`a pass of the ${name} did not end within ${passWithinMs} ms: its lease is given up`)
    }
    try {
      await passing
      const pauseMs = Math.min(pauseOfPass * (performance.now() - from), longestPauseMs)
      await pause(Math.max(everyMs, pauseMs), signal)
    } catch (err) {
      // An outage is logged where it is noticed.
      if (!signal.aborted && !isOfOutage(err)) log.warn({ err, task: name }, 'periodic work failed, it is tried again')
      await pause(Math.min(everyMs, longestBackoffMs), signal)
    }
  }
}
