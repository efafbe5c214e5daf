// Keeps a process from sending and from giving out ids while its database is behind the log.
import type { Pool } from 'pg'
import type { Streams } from '../event-store/streams.js'
import { pause } from '../subscriptions/lease.js'
import { BehindLog, explain, standingOf, type Standing } from './standing.js'

export interface Gate {
  /** Compares now. @throws when the event store or Postgres does not answer: then what was found last stays true */
  look (): Promise<Standing>
  /** Compares now. @throws BehindLog when no webhook may be sent */
  holdSends (): Promise<void>
  /** Compares now. @throws BehindLog when no id may be given out */
  holdIds (): Promise<void>
  /** What was found last: nothing is sent before the first look. */
  maySend (): boolean
  /** Resolves as soon as webhooks may be sent, or `signal` is aborted; `watch` must run. */
  opened (signal: AbortSignal): Promise<void>
  /** Compares again and again until `signal` is aborted, more often while something is refused. */
  watch (signal: AbortSignal): Promise<void>
}

export interface GateOptions {
  pool: Pool
  streams: Pick<Streams, 'last'>
  log: { info (details: object, message: string): void, error (details: object, message: string): void }
  /** Between two looks while something is refused, in milliseconds. */
  closedEveryMs?: number
}

const openEveryMs = 30_000
const openedEveryMs = 50

/** Closed at first. Says once why it is closed, and once that it is open again. */
export function openGate ({ pool, streams, log, closedEveryMs = 2_000 }: GateOptions): Gate {
  let found: Standing | undefined
  let told: string | undefined

  return {
    look,
    maySend: () => found?.sends === true,
    async holdSends () {
      const standing = await look()
      if (!standing.sends) throw new BehindLog(explain(standing))
    },
    async holdIds () {
      const standing = await look()
      if (!standing.ids) throw new BehindLog(explain(standing))
    },
    async opened (signal) {
      while (!signal.aborted && found?.sends !== true) await pause(openedEveryMs, signal)
    },
    async watch (signal) {
      while (!signal.aborted) {
        await look().catch(() => {}) // a back end is away: whoever needs it says so
        await pause(found?.sends === true ? openEveryMs : closedEveryMs, signal)
      }
    }
  }

  async function look (): Promise<Standing> {
    found = await standingOf(pool, streams)
    const problem = explain(found)
    if (problem !== undefined && problem !== told) log.error({}, problem)
    if (problem === undefined && told !== undefined) log.info({}, 'The database goes with the log again.')
    told = problem
    return found
  }
}
