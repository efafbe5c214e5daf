// Keeps a process from sending webhooks and from giving out ids while its database is behind the log.
import type { Pool } from 'pg'
import { pause } from '../timing.js'
import { BehindLog, explainBehind, readDatabaseState, type DatabaseState, type MarkedLog } from './database-state.js'

export interface RestoreGuard {
  /** Compares now. @throws when the event store or Postgres does not answer; the last result stays */
  check (): Promise<DatabaseState>
  /** Compares now. @throws BehindLog when no webhook may be sent */
  assertMaySend (): Promise<void>
  /** Compares now. @throws BehindLog when no id may be given out */
  assertMayGiveIds (): Promise<void>
  /** The last result; false before the first check. */
  maySend (): boolean
  /** Resolves as soon as webhooks may be sent, or `signal` is aborted; `keepChecking` must run. */
  untilMaySend (signal: AbortSignal): Promise<void>
  /** Compares again and again until `signal` is aborted, more often while something is refused. */
  keepChecking (signal: AbortSignal): Promise<void>
}

type Write = (details: object, message: string) => void

export interface RestoreGuardOptions {
  pool: Pool
  streams: MarkedLog
  log: { info: Write, warn: Write, error: Write }
  /** Between two checks while webhooks may not be sent, in milliseconds. */
  behindEveryMs?: number
}

const levelEveryMs = 30_000
const waitEveryMs = 50

/** Refuses everything at first. Logs once that the database is behind, and once that it is no longer. */
export function openRestoreGuard ({ pool, streams, log, behindEveryMs = 2_000 }: RestoreGuardOptions): RestoreGuard {
  let last: DatabaseState | undefined
  const tell = teller(log)

  return {
    check,
    maySend: () => last?.maySend === true,
    async assertMaySend () {
      const state = await check()
      if (!state.maySend) throw new BehindLog(explainBehind(state))
    },
    async assertMayGiveIds () {
      const state = await check()
      if (!state.mayGiveIds) throw new BehindLog(explainBehind(state))
    },
    async untilMaySend (signal) {
      while (!signal.aborted && last?.maySend !== true) await pause(waitEveryMs, signal)
    },
    async keepChecking (signal) {
      while (!signal.aborted) {
        await check().catch(() => {}) // a back end is away: those who need it report it
        await pause(last?.maySend === true ? levelEveryMs : behindEveryMs, signal)
      }
    }
  }

  async function check (): Promise<DatabaseState> {
    last = await readDatabaseState(pool, streams)
    tell(last)
    return last
  }
}

/** Tells of each state once. */
function teller (log: RestoreGuardOptions['log']): (state: DatabaseState) => void {
  let logged: string | undefined
  let passedOver: string | undefined
  return (state) => {
    const { unreadable } = state
    if (unreadable !== undefined && unreadable !== passedOver) log.warn({ problem: unreadable }, markAnew)
    passedOver = unreadable
    const problem = explainBehind(state)
    if (problem !== undefined && problem !== logged) log.error({}, problem)
    if (problem === undefined && logged !== undefined) log.info({}, 'The database is level with the log again.')
    logged = problem
  }
}

const markAnew = 'the newest marker cannot be read, the one before it counts: ' +
  'see who wrote it, then run `ringledger events mark`'
