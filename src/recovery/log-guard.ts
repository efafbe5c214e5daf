// Notices that the log has gone back, or is another one, while roles run: then nothing is fed from it.
import type { Pool } from 'pg'
import type { Streams } from '../log/event-log.js'
import { pause } from '../timing/pause.js'
import type { SameLog } from '../subscriptions/run.js'
import { noteAppendedBehind, saysAppendedBehind, type AppendedBehind } from './appended-behind.js'
import { furthestOf, older, OtherLog, refuseOtherLog, type ReadUpTo } from './other-log.js'

export interface LogGuard extends SameLog {
  /** Compares now. @throws OtherLog, EventStoreUnavailable; an outage leaves the last result */
  assert (): Promise<void>
  problem (): OtherLog | undefined
  /** Compares until it is the same log, for some seconds. @throws as `assert` */
  assertSoon (): Promise<void>
  /**
   * Takes an event behind what this process knew to be read as proof that the log has gone back, and notes it for every
   * role. What it knew counts only where the database says the same: positions may have begun anew meanwhile.
   */
  wentBack (proof: AppendedBehind): Promise<void>
  /** Compares again and again. @returns what ends it */
  keepChecking (): () => Promise<void>
}

export interface LogGuardOptions {
  pool: Pool
  streams: Pick<Streams, 'read' | 'head' | 'limitOf'>
  /** How far the subscriptions beside the dispatcher have read. */
  readUpTo (): Promise<readonly ReadUpTo[]>
  log: { info (details: object, message: string): void, error (details: object, message: string): void }
  /** Between two comparisons, in milliseconds. */
  everyMs?: number
}

const usualEveryMs = 10_000

/** A member that has just begun to lead may be level a moment later. */
const soonMs = { within: 3_000, every: 200 }

/** Logs once what is wrong, and once that it no longer is. */
export function openLogGuard ({ pool, streams, readUpTo, log, everyMs = usualEveryMs }: LogGuardOptions): LogGuard {
  let problem: OtherLog | undefined
  const keepChecking = () => repeating(everyMs, assert)
  return { assert, assertSoon, problem: () => problem, wentBack, keepChecking }

  async function assert (): Promise<void> {
    try {
      await refuseOtherLog(pool, streams, await readUpTo())
      if (problem) log.info({}, 'The event log is the one that this database has followed.')
      problem = undefined
    } catch (error) {
      if (error instanceof OtherLog) note(error)
      throw error
    }
  }

  async function assertSoon (): Promise<void> {
    await untilNotOther(async () => await refuseOtherLog(pool, streams, await readUpTo()))
    await assert()
  }

  async function wentBack (proof: AppendedBehind): Promise<void> {
    const { position } = await furthestOf(pool, await readUpTo())
    if (position < proof.readUpTo) return
    note(older(saysAppendedBehind(proof)))
    await noteAppendedBehind(pool, proof)
  }

  function note (found: OtherLog): void {
    if (found.message !== problem?.message) log.error({}, found.message)
    problem = found
  }
}

/** What fails was told; an outage is reported by others. @returns what ends it */
function repeating (everyMs: number, look: () => Promise<void>): () => Promise<void> {
  const stopping = new AbortController()
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await pause(everyMs, stopping.signal)
      if (!stopping.signal.aborted) await look().catch(() => {})
    }
  })()
  return async () => {
    stopping.abort()
    await looking
  }
}

/** Gives a log that is another one a moment; what else is wrong is found again. */
async function untilNotOther (look: () => Promise<void>): Promise<void> {
  for (const giveUpAt = Date.now() + soonMs.within; Date.now() < giveUpAt;) {
    const problem = await look().catch((error: unknown) => error)
    if (!(problem instanceof OtherLog)) return
    await pause(soonMs.every, new AbortController().signal)
  }
}
