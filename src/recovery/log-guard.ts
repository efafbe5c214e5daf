// Keeps a process from following another log, and from sending webhooks and giving out ids while its database is behind
// the log.
import type { Pool } from 'pg'
import { OtherLog } from '../log/errors.js'
import { joinRunning, pause, repeat } from '../timing.js'
import { BehindLog, explainBehind, readDatabaseState, type DatabaseState, type MarkedLog } from './markers.js'
import { refuseOtherLog, type KnownLog, type ReadUpTo } from './same-log.js'

type Write = (details: object, message: string) => void

export interface LogGuardOptions {
  pool: Pool
  streams: MarkedLog & KnownLog
  /** How far the read models have read the log. */
  readUpTo? (): Promise<readonly ReadUpTo[]>
  log: { info: Write, warn: Write, error: Write }
  /** Interval of comparisons in milliseconds; `behindEveryMs` while webhooks may not be sent. */
  everyMs?: number
  behindEveryMs?: number
}

const waitEveryMs = 50
/** A new leader may lag for a moment. */
const soonMs = { within: 3_000, every: 200 }

export type LogGuard = ReturnType<typeof openLogGuard>

/** Allows nothing until the first check. Logs each problem once, and once that it is over. */
export function openLogGuard (
  { pool, streams, readUpTo = async () => [], log, everyMs = 10_000, behindEveryMs = 2_000 }: LogGuardOptions
) {
  let other: OtherLog | undefined
  let last: DatabaseState | undefined
  const compare = joinRunning(async () => { await refuseOtherLog(pool, streams, await readUpTo()) })
  return {
    assert,
    check,
    problem: () => other,
    /** The last result; false before the first check. */
    maySend: () => last?.maySend === true,
    /** Retries for some seconds until it is the same log. @throws as `assert` */
    async assertSoon () {
      let compared = compare()
      for (const giveUpAt = Date.now() + soonMs.within; Date.now() < giveUpAt; compared = compare()) {
        if (!await compared.then(() => false, (error: unknown) => error instanceof OtherLog)) break
        await pause(soonMs.every, never)
      }
      await heed(compared)
    },
    /** Compares now. @throws BehindLog when no webhook may be sent */
    assertMaySend: () => assertMay('maySend'),
    /** Compares now. @throws BehindLog when no id may be given out */
    assertMayGiveIds: () => assertMay('mayGiveIds'),
    /** Resolves once webhooks may be sent or `signal` is aborted. `keepChecking` must run. */
    async untilMaySend (signal: AbortSignal) {
      while (!signal.aborted && last?.maySend !== true) await pause(waitEveryMs, signal)
    },
    /** Compares both periodically, more often while something is refused. @returns what stops it */
    keepChecking: () => repeat(async (signal) => {
      await pause(last?.maySend === true ? everyMs : behindEveryMs, signal)
      if (signal.aborted) return
      for (const look of [assert, check]) await look().catch(() => {}) // logged; others report outages
    })
  }

  async function assertMay (does: 'maySend' | 'mayGiveIds'): Promise<void> {
    const state = await check()
    if (!state[does]) throw new BehindLog(explainBehind(state))
  }

  /** Compares the log now. @throws OtherLog, EventStoreUnavailable; an outage keeps the last result */
  async function assert (): Promise<void> {
    await heed(compare())
  }

  async function heed (compared: Promise<void>): Promise<void> {
    try {
      await compared
    } catch (error) {
      if (error instanceof OtherLog && error.message !== other?.message) log.error({}, error.message)
      if (error instanceof OtherLog) other = error
      throw error
    }
    if (other) log.info({}, 'The event log is the one that this database has followed.')
    other = undefined
  }

  /** Compares the database now. @throws when the event store or Postgres does not answer, and keeps the last result */
  async function check (): Promise<DatabaseState> {
    const former = last
    last = await readDatabaseState(pool, streams)
    const { unreadable } = last
    if (unreadable !== undefined && unreadable !== former?.unreadable) log.warn({ problem: unreadable }, markAnew)
    const [was, is] = [former && explainBehind(former), explainBehind(last)]
    if (is !== undefined && is !== was) log.error({}, is)
    if (is === undefined && was !== undefined) log.info({}, 'The database is level with the log again.')
    return last
  }
}

const never = new AbortController().signal
const markAnew = 'the newest marker cannot be read, the one before it counts: ' +
  'see who wrote it, then run `ringledger events mark`'
